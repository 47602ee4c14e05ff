"""Small English word lists that tell causes, predictions, demands and statements apart.

All entries are lemmas. The lists are general news vocabulary; none is about one story.
"""

# ruff: noqa: SIM905 - word lists read better as running text than as literals

from __future__ import annotations

SYNONYMS = (
    {"injure", "hurt", "wound"},
    {"kill", "die", "death"},
    {"fire", "blaze"},
    {"raise", "hike", "increase"},
    {"rise", "climb", "jump", "surge", "soar", "grow", "gain", "advance", "rally"},
    {"fall", "drop", "decline", "slump", "sink", "plunge", "tumble", "slide", "lose", "shrink"},
    {"start", "begin", "erupt"},
    {"end", "finish", "conclude"},
    {"reopen", "resume", "restart"},
    {"close", "shut"},
    {"buy", "purchase", "acquire"},
    {"watch", "attend"},
    {"company", "firm", "business", "companies"},
    {"factory", "plant", "mill"},
    {"worker", "employee", "staff"},
    {"cost", "price"},
    {"flee", "evacuate", "displace"},
    {"trial", "hearing"},
    {"election", "vote", "ballot"},
    {"quake", "earthquake", "tremor"},
    {"kid", "child"},
    {"phone", "handset", "smartphone"},
    {"car", "vehicle"},
    {"recession", "downturn"},
    {"lawmaker", "legislator"},
    {"police", "officer"},
    {"expert", "economist", "analyst", "scientist", "researcher", "strategist"},
    {"critic", "opponent", "sceptic", "skeptic"},
)
_CANONICAL = {word: min(group) for group in SYNONYMS for word in group}


def canonical(lemma: str) -> str:
    """Return one representative for words that news uses for the same thing."""
    lowered = lemma.lower()
    return _CANONICAL.get(lowered, lowered)


PEOPLE = frozenset(
    "people person worker employee staff resident victim patient passenger fan officer soldier "
    "child student protester demonstrator civilian firefighter survivor customer traveller "
    "traveler villager woman man guest visitor crew member citizen migrant refugee spectator "
    "supporter household family shopper pupil driver civilian tourist hostage".split()
)
PEOPLE_GROUPS = frozenset(
    "critic expert economist analyst resident official investor worker union opponent supporter "
    "scientist researcher doctor lawyer prosecutor defence defense neighbour neighbor fan owner "
    "customer parent teacher activist campaigner observer lawmaker police investigator witness "
    "employee regulator reviewer player coach voter trader consumer engineer environmentalist "
    "company government city council authority court judge team club league school hospital "
    "agency committee board panel ministry minister mayor president governor senator chief chair "
    "chairman spokesman spokeswoman spokesperson director manager family developer publisher "
    "republicans democrats republican democrat administration congress parliament bank airline "
    "manufacturer maker supplier operator organizer organiser student shareholder".split()
)

CAUSE_VERBS = frozenset(
    "cause trigger spark drive fuel ignite prompt provoke lead result contribute stem create blame "
    "attribute trace exacerbate worsen spur produce feed stoke let overwhelm force bring".split()
)
CAUSE_FROM_VERBS = frozenset("stem result come arise emerge".split())
CAUSE_NOUNS = frozenset(
    "cause culprit reason responsible blame fault driver source root result factor".split()
)
REASON_PREPOSITIONS = frozenset(("because of", "due to", "owing to", "thanks to", "as a result of"))
REASON_MARKS = frozenset(("because", "since", "as"))

EFFECT_VERBS = frozenset(
    "hurt harm damage destroy cut reduce force kill injure make leave push slow raise boost "
    "help threaten ruin affect improve lead cause mean erode squeeze drive weaken undermine create "
    "prompt trigger spark ease curb tip bring stop save protect lower disrupt wipe hit displace "
    "strengthen benefit increase worsen limit block prevent deepen pollute allow delay end reshape "
    "encourage discourage restore punish fuel contract depress dampen cool send give attract "
    "reignite change transform eliminate".split()
)
FUTURE_AUX = frozenset(("will", "would", "could", "may", "might", "shall", "'ll", "wo", "ca"))
FUTURE_HEADS = frozenset(
    "expect plan intend hope aim vow promise pledge forecast predict project threaten anticipate "
    "prepare refuse seek want consider set likely unlikely due poised ready bound certain sure "
    "scheduled go continue".split()
)
PREDICTING_VERBS = frozenset(
    "expect forecast predict project anticipate foresee fear see envision".split()
)
DUTY_AUX = frozenset(("should", "must", "ought"))
DUTY_HEADS = frozenset(("need", "have"))
DUTY_VERBS = frozenset("urge demand recommend require advise".split())

SAY_VERBS = frozenset(
    "say tell argue believe think warn claim insist add note explain admit deny suggest report "
    "announce call describe acknowledge state declare write contend predict expect estimate "
    "complain fear accuse criticize criticise praise reject dismiss blame caution concede "
    "conclude maintain testify promise urge demand dispute defend welcome oppose".split()
)
REACT_VERBS = frozenset(
    "condemn welcome criticize criticise praise reject dismiss deny defend apologize apologise "
    "demand urge accuse dispute oppose support back protest appeal sue challenge refuse blame "
    "promise vow pledge offer apologise resign call announce admit regret thank respond react "
    "object insist threaten ban suspend cancel".split()
)
LIKELY_WORDS = frozenset(
    "likely unlikely likelihood probability probable chance odd odds risk possible possibility "
    "inevitable avoid avoidable imminent certain guarantee guaranteed loom possibly probably "
    "improbable plausible prospect threat fear danger unavoidable".split()
)
VAGUE_NOUNS = frozenset(
    "way thing lot part number time day week month year moment point case fact kind sort end side "
    "one something anything everything nothing someone anyone nobody everybody today tomorrow "
    "yesterday morning evening night afternoon hour minute second decade century percent per cent "
    "half third quarter result matter question answer example bit set level amount rest total top "
    "bottom term place group type form order area people person man woman reason story article "
    "report news statement comment word reporter monday tuesday wednesday thursday friday saturday "
    "sunday january february march april may june july august september october november december "
    "million billion trillion dollar euro pound mr mrs ms dr issue problem situation move step "
    "change idea position view look need effort work use role series couple dozen hundred thousand "
    "range pace peak high low line list hand head life world interview journal post times "
    "other most many such while kind spring summer autumn fall winter basis share".split()
)
EVALUATION_WORDS = frozenset(
    "good bad wrong right fair unfair harsh soft disgrace mistake popular unpopular insulting "
    "insult joke brave great poor terrible brilliant dull excellent disappointing disappointment "
    "success successful failure best worst historic overdue biased impressive correct incorrect "
    "correctly wrongly clear unclear necessary unnecessary reckless dangerous safe unsafe useless "
    "useful welcome beautiful ugly stunning boring slow fast expensive cheap reliable unreliable "
    "generous shameful outrageous justified unjustified deserve gift triumph scandal awful superb "
    "weak strong solid inadequate sufficient insufficient gamble democratic illegal lawful "
    "ineffective effective devastating encouraging better worse misguided sensible".split()
)
EVALUATION_VERBS = frozenset(
    "praise criticize criticise welcome support oppose condemn dismiss defend reject applaud slam "
    "blast call hail describe like love hate favor favour back denounce cheer mock".split()
)
MONEY_NOUNS = frozenset(
    "damage loss fine bill budget deal bid offer fund profit revenue fee ransom bail "
    "compensation settlement".split()
)
CURRENCIES = frozenset("dollar euro pound yen yuan franc peso rupee krona crown cent".split())
UNITS = CURRENCIES | frozenset(
    "percent degree kilometre kilometer mile metre meter foot inch litre liter gallon barrel ton "
    "tonne kilogram hectare acre hour minute second day week month year decade time point "
    "million billion trillion thousand hundred".split()
)
"""Nouns after a number that measure; nobody asks how many there were."""
IRREGULAR_PARTICIPLES = {
    "catch": "caught", "lose": "lost", "win": "won", "sell": "sold", "buy": "bought",
    "hold": "held", "build": "built", "pay": "paid", "find": "found", "make": "made",
    "leave": "left", "send": "sent", "cut": "cut", "shut": "shut", "put": "put", "hit": "hit",
    "hurt": "hurt", "take": "taken", "give": "given", "steal": "stolen", "break": "broken",
    "choose": "chosen", "drive": "driven", "know": "known", "see": "seen", "show": "shown",
    "throw": "thrown", "tell": "told", "lead": "led", "feed": "fed", "beat": "beaten",
    "bring": "brought", "teach": "taught", "fight": "fought", "keep": "kept", "spend": "spent",
    "lend": "lent", "strike": "struck", "shoot": "shot", "set": "set", "spread": "spread",
    "withdraw": "withdrawn", "overturn": "overturned", "ban": "banned", "stop": "stopped",
    "drop": "dropped", "plan": "planned", "scrap": "scrapped", "cap": "capped", "get": "got",
    "burn": "burned", "freeze": "frozen", "hide": "hidden", "forgive": "forgiven", "do": "done",
}  # fmt: skip
LEVEL_NOUNS = frozenset(
    "inflation unemployment rate price cost temperature turnout growth support tax wage salary "
    "interest debt deficit yield attendance share".split()
)
MOVE_VERBS = frozenset(
    "rise climb jump surge soar grow gain advance rally fall drop decline slump sink plunge tumble "
    "slide lose shrink increase raise hike cut reduce cost contract".split()
)
PROMISE_VERBS = frozenset(
    "offer promise deny demand announce reject admit propose want fear warn plan criticize "
    "criticise recommend predict expect claim threaten".split()
)


# --- what answers of a kind are recognised by -----------------------------------------------

CAUSE_WORDS = (
    CAUSE_NOUNS | CAUSE_FROM_VERBS | frozenset("because due owing thanks explain blame".split())
)
BLAME_WORDS = frozenset(
    "blame fault responsible responsibility accuse guilty guilt culprit negligence negligent "
    "accountable liable scapegoat fraud lapse mismanagement misfortune innocent".split()
)
COST_WORDS = frozenset("cost price bill figure estimate sum expense".split())
UNKNOWN_WORDS = frozenset("soon guesswork unknown unclear guess early nobody uncertain".split())
TIME_WORDS = frozenset(
    "week month year day date until soon never long indefinite indefinitely midwinter spring "
    "summer autumn winter weekend permanently eventually".split()
)
OUTLOOK_WORDS = frozenset(
    "expect expectation forecast predict outlook likely unlikely possible hope plan confident "
    "likelihood prospect certainly future date".split()
)
FEELING_WORDS = frozenset(
    "angry anger furious glad happy sad sorry sympathy patience impatient bitter bitterness "
    "afraid fear worry worried divided split relief relieved disappointed upset tired proud "
    "trust distrust sceptical skeptical hostile side behind mood thank grateful".split()
)
CHANGE_WORDS = EFFECT_VERBS | frozenset(
    "less more fewer down up lose loss gain sell hit suffer rise fall drop close closed busy empty "
    "touch".split()
)


def is_people(noun: str) -> bool:
    """Whether a noun, in any number, is a word for people."""
    lowered = noun.lower()
    return lowered in PEOPLE or lowered.removesuffix("s") in PEOPLE


def same_count(asked: str, lemma: str) -> bool:
    """Whether two nouns count the same: equal but for number, or both words for people."""
    if is_people(asked) and is_people(lemma):
        return True
    return canonical(asked.removesuffix("s")) == canonical(lemma.removesuffix("s"))


# --- what may be asked of which nouns; heads as `canonical` gives them -----------------------


def _heads(words: str) -> frozenset[str]:
    return frozenset(map(canonical, words.split()))


ACCIDENTS = _heads(
    "fire collapse failure crash flood explosion accident outage blackout leak spill shortage "
    "outbreak epidemic pandemic disaster violence riot clash delay fraud breach derailment "
    "shooting attack crisis damage fault rupture landslide stampede sinking malfunction "
    "famine drought downturn scandal disruption "
    "contamination poisoning unrest bankruptcy overheating wildfire "
)
"""What happens to people: it has causes, and someone may be to blame."""
ACTS = _heads(
    "strike recall ban decision deal plan merger takeover penalty law reform tariff "
    "sanction closure resignation lawsuit walkout boycott ruling verdict sentence agreement "
    "proposal scheme protest referendum purchase shutdown lockdown curfew treaty "
    "layoff redesign launch renovation demolition relocation appointment dismissal sacking "
    "privatisation privatization nationalisation expulsion arrest raid invasion"
)
"""What people decide or do: others have a view of it."""
MOTIVATED = _heads(
    "strike walkout boycott protest closure layoff resignation shutdown dispute lawsuit "
    "blockade occupation"
)
"""What people do for a reason that others may see differently."""
PROCESSES = _heads(
    "strike dispute war conflict trial inquiry investigation shutdown lockdown siege outage "
    "blackout drought crisis recession shortage standoff boycott walkout protest occupation "
    "hunt search negotiation blockade outbreak epidemic pandemic famine"
)
"""What goes on until it ends."""
POSSIBLE_EVENTS = _heads(
    "recession war conviction replay mistrial strike default shutdown referendum election "
    "comeback merger rematch appeal collapse bankruptcy pandemic invasion ceasefire"
)
PROPOSALS = _heads("ban plan deal scheme merger takeover law reform project proposal")
QUESTION_WORDS = frozenset(
    "what who when where why how many much long do will should would people person think be next "
    "have behind happen high likely large ? the".split()
)
"""Words that say how a question asks, not about what."""
RISE, FALL = canonical("rise"), canonical("fall")
LEVELS = _heads(
    "inflation unemployment price rent wage turnout temperature share stock economy sale market"
)
"""What goes up and down."""
ASKED_LEVELS = _heads("inflation unemployment price rent wage turnout temperature")
TROUBLES = _heads("inflation unemployment shortage")
SITES = _heads(
    "factory site bank school hospital museum theatre theater park bridge stadium station pub "
    "mine airport port church library cinema ship"
)
TIMED_VERBS = frozenset(
    "reopen open return resume restart start begin end close leave arrive launch recover rebuild "
    "finish vote decide rule retire run".split()
)
"""Verbs of which a time is asked without naming an object."""
MONEY_HEADS = _heads("damage fine")
COSTLY = _heads(
    "repair recall plan project claim ban scheme rebuilding reconstruction bridge upgrade reform "
    "cleanup renovation tunnel line stadium programme program"
)
FAIL_VERBS = frozenset(
    "fail collapse crash sink explode burst break crack derail overheat flood burn erupt leak "
    "capsize".split()
)
FAILURES = {
    "failure": "fail", "collapse": "collapse", "crash": "crash", "explosion": "explode",
    "rupture": "burst", "derailment": "derail", "sinking": "sink", "leak": "leak",
}  # fmt: skip
AFFECTED_GROUPS = _heads(
    "business shop trader retailer passenger commuter resident customer household family "
    "farmer pupil student patient consumer tourist investor fan restaurant "
    "supplier pensioner tenant economy"
)
