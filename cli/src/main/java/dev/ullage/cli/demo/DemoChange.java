package dev.ullage.cli.demo;

import dev.ullage.cli.client.ApiClient;
import dev.ullage.cli.client.ApiException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.IntPredicate;

/**
 * Something an operator changes while the ranks train.
 *
 * @param at when, as a share of the demo's duration
 * @param what for people
 * @param affects which ranks get a new limit
 * @param action the change itself
 */
record DemoChange(double at, String what, IntPredicate affects, Action action) {

    /** A write to the API. */
    interface Action {
        void perform(ApiClient api, String secret) throws ApiException;
    }

    /** The demo's script: everyone shrinks, one rank shrinks and grows back, everyone grows back. */
    static List<DemoChange> script() {
        return List.of(
                reserve(0.15, "20%", "30%"),
                share(0.35, 5, "100%", "60%"),
                share(0.50, 5, "60%", "100%"),
                reserve(0.65, "30%", "20%"),
                share(0.80, 2, "100%", "50%"));
    }

    private static DemoChange reserve(double at, String from, String to) {
        return new DemoChange(
                at,
                "reserve of every device " + from + " -> " + to,
                rank -> true,
                (api, secret) -> api.setReserve(to, Optional.empty(), secret));
    }

    private static DemoChange share(double at, int rank, String from, String to) {
        return new DemoChange(
                at,
                "share of rank " + rank + " " + from + " -> " + to,
                candidate -> candidate == rank,
                (api, secret) -> api.setShare(DemoRanks.JOB, OptionalInt.of(rank), to, secret));
    }
}
