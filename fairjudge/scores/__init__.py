"""What judgements add up to: aggregates, leaderboards, juries, slices of coverage."""
