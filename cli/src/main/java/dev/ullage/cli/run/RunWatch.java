package dev.ullage.cli.run;

import dev.ullage.cli.client.ApiClient;
import dev.ullage.cli.client.ApiException;
import java.util.Optional;

/** Looks at the job in the status from time to time and keeps what was seen. One thread. */
final class RunWatch {
    private final ApiClient client;
    private Optional<RunSummary> summary;

    /** @param job empty: nobody knows its name, so there is nothing to look for */
    RunWatch(ApiClient client, Optional<String> job) {
        this.client = client;
        this.summary = job.map(RunSummary::none);
    }

    /** A coordinator that does not answer is no trouble of the job's: what was seen before stays. */
    void look() {
        if (summary.isEmpty()) {
            return;
        }
        try {
            summary = Optional.of(summary.get().seen(client.status()));
        } catch (ApiException e) {
            // It may be about to be replaced; the next look finds the new one.
        }
    }

    Optional<RunSummary> summary() {
        return summary;
    }
}
