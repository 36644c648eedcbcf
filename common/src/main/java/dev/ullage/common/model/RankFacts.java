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
 * @param policy the policy that its job asks for, by name; a coordinator need not know it
 */
public record RankFacts(
        OptionalInt worldSize,
        OptionalInt localRank,
        String launcher,
        int restart,
        Optional<String> framework,
        List<EnforcedBy> canEnforce,
        Optional<String> policy) {

    public RankFacts {
        canEnforce = List.copyOf(canEnforce);
    }

    /** Of a job that asks for no policy. */
    public RankFacts(
            OptionalInt worldSize,
            OptionalInt localRank,
            String launcher,
            int restart,
            Optional<String> framework,
            List<EnforcedBy> canEnforce) {
        this(worldSize, localRank, launcher, restart, framework, canEnforce, Optional.empty());
    }

    public RankFacts withLocalRank(OptionalInt number) {
        return new RankFacts(worldSize, number, launcher, restart, framework, canEnforce, policy);
    }
}
