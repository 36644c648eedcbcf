package dev.ullage.cli.simulation;

import dev.ullage.common.model.JobId;
import dev.ullage.common.model.JobRequest;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.protocol.RequestState;
import dev.ullage.common.protocol.ToCoordinator.SubmitRequest;
import dev.ullage.common.protocol.ToOperator;
import dev.ullage.common.protocol.ToOperator.RequestRefused;
import dev.ullage.common.protocol.ToOperator.Requests;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Who submitted a job, which is what {@code ullage run --wait} is: says its request again and again to whoever
 * coordinates, starts the job where it is told to, and ends it when it is told to, or when it is over. One question at
 * a time; the answer to one that it no longer waits for is not heard.
 */
final class GangSubmitter {
    private final GangSimulation world;
    private final JobRequest request;
    private final NavigableMap<RankInstance, GangHost.Device> ranks = new TreeMap<>();
    private final long submittedAt;
    private Optional<String> room = Optional.empty();
    private int asked;
    private boolean isRunning;
    private boolean isGone;

    /** Who answered, and when. */
    record Answer(GangCoordinator coordinator, long atMillis) {}

    GangSubmitter(GangSimulation world, JobRequest request) {
        this.world = world;
        this.request = request;
        this.submittedAt = world.time().nowMillis();
        say();
    }

    JobId job() {
        return request.job();
    }

    boolean isGone() {
        return isGone;
    }

    boolean isRunning() {
        return isRunning;
    }

    private void say() {
        if (isGone) {
            return;
        }
        long pause = world.isStormy()
                ? world.dice().between(800, 1_500)
                : world.dice().between(2_000, 3_500);
        world.time().after(pause, this::say);
        int number = ++asked;
        boolean saysThatItRuns = isRunning && world.mutant() != GangMutant.RUNNING_NOT_SAID;
        SubmitRequest message = new SubmitRequest(
                request,
                world.time().nowMillis() - submittedAt,
                saysThatItRuns,
                Stubs.OPERATOR,
                room.filter(known -> saysThatItRuns));
        world.ask(coordinator -> coordinator.submit(message).ifPresent(answer -> {
            long answeredAt = world.time().nowMillis();
            world.answer(() -> {
                if (number == asked && !isGone) {
                    heard(answer, new Answer(coordinator, answeredAt));
                }
            });
        }));
    }

    private void heard(ToOperator answer, Answer from) {
        if (answer instanceof RequestRefused refused && !isRunning) {
            world.note(
                    What.RESERVATION,
                    from.coordinator().endpoint,
                    () -> "submitter of " + job() + " gives up: " + refused);
            isGone = true;
        } else if (answer instanceof Requests requests && !requests.states().isEmpty()) {
            heard(requests.states().get(0), requests.room(), from);
        }
    }

    private void heard(RequestState state, Optional<String> name, Answer from) {
        if (!isRunning && state.state().equals(RequestState.PLACED)) {
            room = name;
            start(state, from);
        } else if (isRunning && state.state().equals(RequestState.REQUEUED)) {
            endRanks();
            isRunning = false;
        } else if (state.state().equals(RequestState.CANCELLED)) {
            endRanks();
            isGone = true;
        }
    }

    private void start(RequestState state, Answer by) {
        isRunning = true;
        world.told(job(), GangPromises.layout(state.ranks()), by);
        for (RequestState.RankPlace place : state.ranks()) {
            GangHost.Device device = world.device(place.device());
            if (world.dice().chance(800)) {
                ranks.put(world.join(device, job()), device);
            }
        }
        world.time().after(world.dice().between(2_000, 40_000), () -> {
            if (world.isStormy() && isRunning) {
                end();
            }
        });
    }

    private void endRanks() {
        ranks.forEach((instance, device) -> device.ends(instance));
        ranks.clear();
    }

    /** Its job is over; it says so once, and nobody may hear it. */
    void end() {
        if (isGone) {
            return;
        }
        world.note(What.RESERVATION, 0, () -> "job " + job() + " is over");
        endRanks();
        isGone = true;
        world.promises().over(job());
        world.ask(coordinator -> coordinator.cancel(job(), true));
    }

    /** It dies without a word, and its ranks with it, or some time after. */
    void die() {
        if (!isGone) {
            world.note(What.RESERVATION, 0, () -> "the submitter of " + job() + " dies");
            isGone = true;
            world.promises().over(job());
            world.time().after(world.dice().between(1, 6_000), this::endRanks);
        }
    }
}
