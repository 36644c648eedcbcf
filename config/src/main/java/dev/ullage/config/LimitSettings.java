package dev.ullage.config;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Share;

/** How limits are worked out. */
public record LimitSettings(Share reserve, MemoryBytes minimum, Share deadBand, PhaseShares phases) {}
