package dev.ullage.common.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ullage.common.model.CoordinatorToken;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.protocol.OperatorRecord.Drain;
import dev.ullage.common.protocol.OperatorRecord.Stamp;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.Size;

/** Which of two records is kept does not depend on when, how often or in which order they come. */
class OperatorRecordPropertyTest {

    /** What a record says follows from its stamp, as with real ones: a coordinator stamps each change anew. */
    @Provide
    Arbitrary<Optional<OperatorRecord>> records() {
        return Combinators.combine(
                        Arbitraries.longs().between(1, 3),
                        Arbitraries.of("a", "b"),
                        Arbitraries.longs().between(1, 4))
                .as((epoch, uid, sequence) -> record(new Stamp(new CoordinatorToken(epoch, uid), sequence)))
                .optional(0.9);
    }

    private static OperatorRecord record(Stamp stamp) {
        Drain drain = new Drain(new NodeId("node-" + stamp), stamp.sequence(), Optional.empty(), Optional.empty());
        return new OperatorRecord(stamp, List.of(drain), List.of());
    }

    private static Optional<OperatorRecord> kept(List<Optional<OperatorRecord>> shown) {
        return shown.stream().reduce(Optional.empty(), (kept, next) -> OperatorRecord.newest(kept, next));
    }

    @Property
    void theOrderDoesNotMatterAndNeitherDoesHowOften(
            @ForAll @Size(max = 12) List<@From("records") Optional<OperatorRecord>> shown, @ForAll Random random) {
        List<Optional<OperatorRecord>> again = new ArrayList<>(shown);
        again.addAll(shown.subList(0, shown.isEmpty() ? 0 : random.nextInt(shown.size())));
        Collections.shuffle(again, random);

        assertThat(kept(again)).isEqualTo(kept(shown));
    }

    @Property
    void inGroupsIsAsOneByOne(
            @ForAll("records") Optional<OperatorRecord> one,
            @ForAll("records") Optional<OperatorRecord> two,
            @ForAll("records") Optional<OperatorRecord> three) {
        assertThat(OperatorRecord.newest(OperatorRecord.newest(one, two), three))
                .isEqualTo(OperatorRecord.newest(one, OperatorRecord.newest(two, three)));
        assertThat(OperatorRecord.newest(one, two)).isEqualTo(OperatorRecord.newest(two, one));
        assertThat(OperatorRecord.newest(one, one)).isEqualTo(one);
    }

    @Property
    void nothingNewerWasShownThanWhatIsKept(
            @ForAll @Size(max = 12) List<@From("records") Optional<OperatorRecord>> shown) {
        Optional<Stamp> kept = kept(shown).map(OperatorRecord::stamp);

        assertThat(shown).allSatisfy(one -> assertThat(one.filter(record -> record.isNewerThan(kept)))
                .isEmpty());
        assertThat(kept.isPresent()).isEqualTo(shown.stream().anyMatch(Optional::isPresent));
    }

    @Example
    void aLaterCoordinatorsChangeIsNewerWhateverItsSequence() {
        OperatorRecord old = record(new Stamp(new CoordinatorToken(2, "z"), 900));
        OperatorRecord later = record(new Stamp(new CoordinatorToken(3, "a"), 1));

        assertThat(OperatorRecord.newest(Optional.of(old), Optional.of(later))).contains(later);
    }

    @Example
    void whatCouldNotBeShownInOneLineIsRefused() {
        assertThat(Drain.requireReason("fan replaced")).isEqualTo("fan replaced");
        assertThatThrownBy(() -> Drain.requireReason("two\nlines"))
                .hasMessage("a reason must be one line of 1 to 200 characters, without control characters");
        assertThatThrownBy(() -> Drain.requireBy("x".repeat(65))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Stamp(new CoordinatorToken(1, "a"), 0))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
