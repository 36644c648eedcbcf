package dev.ullage.common.protocol;

import java.util.List;

/**
 * How the batch of one step of a job is shared out over its ranks.
 *
 * @param since the sequence of the directive that said so first, 1 or more
 * @param orders how often the batch of the job was shared out, this time counted: 1 or more
 * @param rounds micro-batches of each rank in one step, 1 or more
 * @param samples of each rank in one step, 1 or more each, by rank from 0; their sum is the batch of the job
 */
public record BatchShares(long since, int orders, int rounds, List<Integer> samples) {
    public BatchShares {
        samples = List.copyOf(samples);
        if (since < 1 || orders < 1 || rounds < 1 || samples.isEmpty()) {
            throw new IllegalArgumentException(
                    "batch shares have 1 or more of each: since %d, orders %d, rounds %d, ranks %d"
                            .formatted(since, orders, rounds, samples.size()));
        }
        if (samples.stream().anyMatch(count -> count < 1)) {
            throw new IllegalArgumentException("each rank has 1 sample or more: " + samples);
        }
    }
}
