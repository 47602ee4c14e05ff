"""Patterns of the words and codes in error messages of providers and local servers.

They are used only if the status is ambiguous (see `fairjudge.backends.failures`): a rate limit that
mentions billing is a rate limit. Codes are those in the fields ``code``, ``type``, ``status`` and
``reason`` of a body. Comments are the names of providers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


NO_CREDIT_CODES = _any_of(
    r"insufficient_quota",  # OpenAI
    r"billing_(?:hard_limit_reached|not_active)",  # OpenAI
    r"exceeded_current_quota_error",  # Moonshot
    r"insufficient_(?:balance|credits?|funds|user_quota)",
    r"\bbilling_error",  # Anthropic
    r"arrearage",  # Qwen
)
NO_CREDIT_WORDS = _any_of(
    r"credit balance",  # Anthropic
    r"billing hard limit",
    r"insufficient (?:balance|credits?|funds)",
    r"account .{0,40}(?:in arrears|overdue)|access denied.{0,80}good standing",  # Qwen
)

MODERATION_CODES = _any_of(
    r"content_?(?:filter|policy|moderation|blocked|flagged|safety|violation)",  # Azure, OpenAI
    r"responsibleaipolicyviolation",  # Azure
    r"data_?inspection_?failed",  # Qwen
    r"sensitive_?content|sensitive_?(?:words|information)",  # Volcano Ark
    r"flagged_input",  # OpenRouter
    r"moderation",
    r"\bsafety",
    r"prohibited_content|\bblocklist\b|recitation|blocked_prompt|prompt_?blocked",  # Gemini
    r"guardrail",  # Bedrock
)
MODERATION_WORDS = _any_of(
    r"content[ -](?:management polic|filter|polic|moderation|safety)",
    r"content exists risk",  # DeepSeek
    r"filtered due to",  # Azure
    r"(?:inappropriate|sensitive|unsafe|harmful|prohibited) (?:content|words|material)",
    r"(?:requires|failed|blocked by) moderation|moderation (?:system|filter|policy|endpoint)",
    r"\bflagged\b",  # OpenAI, OpenRouter
    r"violat\w+ .{0,60}(?:polic|guideline)",  # xAI: "Content violates usage guidelines"
    r"usage polic",
    r"safety (?:filter|system|polic|setting|reason|check|guideline)",
    r"(?:blocked|rejected|refused|declined) .{0,60}(?:safety|polic|moderation|guardrail)",
    r"guardrail",
    r"considered high risk",  # Moonshot
    r"responsible ai",  # Google, Azure
    r"new_sensitive",  # MiniMax
    r"敏感|违规|不安全|内容安全|内容审核",  # Zhipu, Baidu, Tencent
)
ACCOUNT_WORDS = _any_of(
    r"\b(?:accounts?|organi[sz]ation|workspace|project|users?|team|access|key|ip(?: address)?"
    r"|country|region)\b[^.\n]{0,40}"
    r"\b(?:flagged|suspended|blocked|banned|disabled|deactivated|terminated|restricted|revoked)\b",
    r"you have been blocked",  # Cloudflare
)
"""Messages about the account, not about one prompt, even if they mention policies."""

TOO_LONG_CODES = _any_of(
    r"context_length_exceeded",  # OpenAI, Groq, Cerebras
    r"exceed_context_size_error",  # llama.cpp
    r"request_too_large|payload_too_large",  # Anthropic
    r"tokens_limit_reached|prompt_tokens_exceeded",  # GitHub Models
    r"string_above_max_length",  # OpenAI
    r"(?:prompt|input|context)_too_(?:long|large)",
    r"context_window_exceeded",
)
TOO_LONG_WORDS = _any_of(
    r"context[ _-]?(?:length|window|size|limit)",  # OpenAI, llama.cpp, SGLang, Anthropic, MiniMax
    r"context shift is disabled|larger than the max context",  # llama.cpp
    r"when context the overflows",  # LM Studio
    r"too large to process",  # llama.cpp: "input is too large to process"
    r"from the initial prompt is greater than",  # LM Studio
    r"max(?:imum)?[ _](?:model|prompt|input|seq(?:uence)?)[ _]len",  # vLLM, xAI, Triton
    r"\b(?:prompts?|inputs?|questions?|messages?|conversation|quer(?:y|ies)|documents?)\b"
    r"(?: tokens?| text| length)? (?:is |are |was )?too (?:long|large|big)\b",
    r"request (?:body |entity )?(?:is )?too large",  # Groq, GitHub Models, proxies
    r"request_too_large",
    r"exceed\w* (?:the )?max(?:imum)? (?:prompt |input |token )?length",  # Zhipu
    r"too many (?:input |prompt )?tokens",  # Cohere, Bedrock
    r"input tokens exceed|input tokens? .{0,30}(?:exceed|larger)|input token count",  # Gemini
    r"input length (?:of )?\(?\d+\)? .{0,30}exceed|range of input length",  # Qwen
    r"longer than (?:the )?(?:model|maximum|max)",  # SGLang, vLLM
    r"must have less than \d+ tokens|`inputs` tokens \+",  # TGI
    r"exceed\w* (?:the )?(?:model(?:'s)? )?(?:token|total tokens?) limit",  # Moonshot, watsonx
    r"number of input tokens .{0,20}cannot exceed",  # watsonx
    r"reduce the length of (?:the |your )?(?:messages|prompt|input)|reduce your prompt",  # Groq
    r"size limit exceeded by \d+ tokens",  # Cohere
    r"current length is \d+ while limit",  # Cerebras
    r"too large for (?:the )?model",  # Mistral
    r"上下文.{0,10}(?:超|过长)|超.{0,10}(?:最大|长度).{0,6}(?:长度|限制)|(?:输入|提示).{0,4}过长",
)

TRANSIENT_CODES = _any_of(
    r"json_validate_failed|failed_generation|tool_use_failed",  # Groq
    r"overloaded|capacity_exceeded|server_busy",
)
TRANSIENT_WORDS = _any_of(
    r"failed to (?:generate|validate) (?:valid )?json",  # Groq: occasionally, at random
    r"(?:overloaded|at capacity|over capacity)\b",
    r"(?:model|server|engine) .{0,40}(?:is|still) (?:being )?(?:loading|loaded|starting|warming)",
    r"try again later|temporarily (?:unavailable|overloaded|rate)",
)

RATE_CODES = _any_of(r"rate_?limit|too_?many_?requests|resource_exhausted|throttl")
RATE_WORDS = _any_of(r"rate[ -]?limit|too many requests|requests per (?:second|minute|hour|day)")

KEY_CODES = _any_of(
    r"(?:invalid_api_key|api_key_invalid|invalid_authentication|authentication_error)"
)
KEY_WORDS = _any_of(
    r"api[ _-]?key (?:not valid|is (?:invalid|missing|expired)|expired)",  # Gemini
    r"(?:incorrect|invalid|missing|no) api[ _-]?key",  # xAI
)

MISSING_CODES = _any_of(r"model_not_found|deploymentnotfound|invalid_model\b")
MISSING_WORDS = _any_of(
    r"is not a valid model",  # OpenRouter
    r"unexpected endpoint",  # LM Studio, with status 200
    r"\bmodel .{1,100}(?:does not exist|not found)|no such model",
)

STATUS_BY_CODE: Mapping[re.Pattern[str], int] = {
    _any_of(r"rate_?limit|throttl|too_?many_?requests|resource_?exhausted"): 429,
    _any_of(r"overloaded|unavailable|busy"): 503,
    _any_of(r"too_large"): 413,
    _any_of(r"authentication|unauthenticated|invalid_api_key"): 401,
    _any_of(r"billing|insufficient|payment"): 402,
    _any_of(r"permission|forbidden"): 403,
    _any_of(r"not_?found"): 404,
    _any_of(r"time_?out|deadline"): 408,
    _any_of(r"invalid_?(?:request|argument|parameter)|bad_?request|unprocessable"): 400,
    _any_of(r"server_?error|internal|api_error|upstream|gateway"): 500,
}
"""The status of errors inside replies of status 200 whose body has a code but no status."""
