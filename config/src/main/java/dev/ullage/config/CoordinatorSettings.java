package dev.ullage.config;

import java.time.Duration;

/** The coordinator's pace. */
public record CoordinatorSettings(
        Duration tick,
        Duration claimFor,
        Duration learnFor,
        Duration staleAfter,
        Duration forgetAfter,
        Duration stallAfter,
        Duration resendAfter) {}
