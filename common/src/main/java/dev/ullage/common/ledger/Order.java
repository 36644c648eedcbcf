package dev.ullage.common.ledger;

import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankInstance;

/**
 * Worker to rank: apply these limits and confirm this sequence.
 *
 * @param sequence 1 or more; the highest a rank has seen wins
 */
public record Order(RankInstance instance, long sequence, PhaseLimits limits) {}
