package dev.ullage.config;

/** All settings; read once at the start ({@link SettingsLoader}) and never changed. */
public record UllageSettings(
        NodeSettings node,
        ClusterSettings cluster,
        HttpSettings http,
        WorkerSettings worker,
        CoordinatorSettings coordinator,
        LimitSettings limits,
        DecisionLogSettings decisionLog) {}
