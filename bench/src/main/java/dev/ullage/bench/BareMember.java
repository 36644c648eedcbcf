package dev.ullage.bench;

import dev.ullage.config.ClusterConfig;
import dev.ullage.config.SettingsException;
import dev.ullage.config.SettingsLoader;
import dev.ullage.config.UllageSettings;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/** A member of the cluster that does nothing else: what membership alone costs. Run by {@code bench/worker.py}. */
public final class BareMember {
    private BareMember() {}

    /** @param args the settings file */
    public static void main(String[] args) throws SettingsException {
        UllageSettings settings = SettingsLoader.load(Optional.of(Path.of(args[0])), List.of(), Map.of());
        ActorSystem.create(
                Behaviors.empty(),
                ClusterConfig.SYSTEM_NAME,
                ClusterConfig.toPekkoConfig(settings, Set.of(ClusterConfig.WORKER_ROLE)));
    }
}
