package dev.ullage.coordinator.planning;

import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;

/**
 * A rank process that is to have a limit.
 *
 * @param share the part of its fair limit the operator leaves it
 */
public record RankRequest(RankInstance instance, Share share) {}
