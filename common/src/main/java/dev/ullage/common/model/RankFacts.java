package dev.ullage.common.model;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What a rank said about itself when it registered; does not change while its process lives.
 *
 * @param worldSize ranks of the job, 1 or more, where its launcher tells
 * @param localRank its number on this host, where its launcher tells
 * @param launcher what started it: {@code torchrun}, {@code openmpi}, {@code slurm}, ...
 * @param restart how often the launcher has restarted the job, 0 or more
 * @param framework name and version, when known
 * @param canEnforce what its client can apply live; empty: a limit is advisory
 */
public record RankFacts(
        OptionalInt worldSize,
        OptionalInt localRank,
        String launcher,
        int restart,
        Optional<String> framework,
        List<EnforcedBy> canEnforce) {

    public RankFacts {
        canEnforce = List.copyOf(canEnforce);
    }
}
