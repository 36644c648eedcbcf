package dev.ullage.worker.ranks;

import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankUse;
import java.util.Optional;
import java.util.OptionalLong;

/** What a rank may say (docs/protocol.md, section 1). */
sealed interface RankMessage {

    /**
     * @param pid the process it claims to be; checked against the peer's user
     * @param inForce the order it has applied, when it was ever given one
     * @param turn what it holds on top of that by a turn, when it has one
     * @param lastAsk the last number it took when it asked for a turn, 0 when it never did
     */
    record Hello(
            RankId rank,
            long pid,
            RankFacts facts,
            DeviceWish wish,
            Optional<InForce> inForce,
            Optional<MemoryBytes> held,
            Optional<MemoryBytes> turn,
            long lastAsk)
            implements RankMessage {}

    /** A limit that a process says is in force. */
    record InForce(long sequence, MemoryBytes limit) {}

    /**
     * What decides which device a rank is on, as its variables are: {@code CUDA_VISIBLE_DEVICES},
     * {@code ULLAGE_DEVICE}, {@code CUDA_DEVICE_ORDER} and {@code NVIDIA_VISIBLE_DEVICES}.
     */
    record DeviceWish(
            Optional<String> visibleDevices,
            Optional<String> device,
            Optional<String> deviceOrder,
            Optional<String> containerDevices) {}

    record Confirm(long sequence, MemoryBytes inForce, Optional<MemoryBytes> held, EnforcedBy enforcedBy)
            implements RankMessage {}

    record Usage(RankUse use) implements RankMessage {}

    record Bye() implements RankMessage {}

    record Attach(String session, String token) implements RankMessage {}

    /** It wants a turn, and waits for the answer. Each time it asks it takes a greater number. */
    record TurnAsked(long id) implements RankMessage {}

    /** It holds nothing by a turn that it asked for up to this number, and waits for none of them. */
    record TurnReleased(long id) implements RankMessage {}

    /** @param id present when an answer is wanted */
    record PhaseEntered(Phase phase, OptionalLong step, OptionalLong id) implements RankMessage {}
}
