package dev.ullage.worker.ranks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.PlannedNeeds;
import dev.ullage.common.model.PlannedNeeds.Need;
import dev.ullage.common.model.PlannedNeeds.Phases;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.model.RankWatch.MicroBatchPeaks;
import dev.ullage.common.model.RankWatch.MicroBatches;
import dev.ullage.common.model.RankWatch.PhasePeak;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a rank brings along of its estimate, and what it measures with micro-batches of several sizes. */
class PlannedLinesTest {
    private static final RankCodec CODEC = new RankCodec(500);
    private static final String NEED = "{'lowerBytes':9,'bytes':10,'upperBytes':12,'stateBytes':6}";
    private static final String PLANNED = "{'stage':1,'stages':2,'wholeProcess':false,'microBatch':4,'phases':{'INIT':"
            + NEED + ",'FORWARD':" + NEED + ",'BACKWARD':" + NEED + ",'OPTIMIZER':" + NEED + ",'STEADY':" + NEED
            + "},'optimizerState':{'lowerBytes':1,'bytes':1,'upperBytes':1,'stateBytes':1},'later':7}";

    private static RankMessage parse(String line) throws BadMessageException {
        return CODEC.parse(line.replace('\'', '"').getBytes(UTF_8));
    }

    private static RankMessage hello(String planned) throws BadMessageException {
        return parse(
                "{'type':'hello','version':1,'job':'j','rank':0,'pid':1,'launcher':'none','planned':" + planned + "}");
    }

    private static MemoryBytes bytes(long value) {
        return MemoryBytes.of(value);
    }

    @Test
    void aHelloMaySayWhatTheRankWasEstimatedToNeed() throws BadMessageException {
        Need need = new Need(bytes(9), bytes(10), bytes(12), bytes(6));
        Need one = new Need(bytes(1), bytes(1), bytes(1), bytes(1));

        assertThat(((RankMessage.Hello) hello(PLANNED)).planned())
                .contains(new PlannedNeeds(
                        1, 2, false, OptionalInt.of(4), new Phases(need, need, need, need, need), one));
        assertThat(((RankMessage.Hello) hello("null")).planned()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "'upperBytes':12   | 'upperBytes':8      | lower <= bytes <= upper and state <= bytes must hold",
                "'stateBytes':6    | 'stateBytes':11     | lower <= bytes <= upper and state <= bytes must hold",
                "'stage':1         | 'stage':2           | a stage is 0 or more and below the stages",
                "'INIT'            | 'OTHER'             | INIT of planned must be an object, is absent",
                "'wholeProcess':false | 'wholeProcess':1 | wholeProcess must be true or false, is 1",
                "'bytes':10        | 'bytes':-10         | bytes must be a whole number of 0 or more, is -10"
            })
    void anEstimateThatCannotBeIsRefusedWithTheRule(String from, String to, String message) {
        BadMessageException refused =
                catchThrowableOfType(BadMessageException.class, () -> hello(PLANNED.replaceFirst(from, to)));

        assertThat(refused).hasMessageContaining(message);
    }

    @Test
    void aSummaryMaySayWhatEachSizeOfMicroBatchHeld() throws BadMessageException {
        RankMessage.Watched watched = (RankMessage.Watched) parse("{'type':'phase-summary','step':7,'microBatch':8,"
                + "'microBatches':[{'samples':8,'phases':{'BACKWARD':{'peakAllocatedBytes':80}}},"
                + "{'samples':4,'phases':{}}]}");

        assertThat(watched.summary().batches().flatMap(RankWatch.Batches::sizes))
                .contains(new MicroBatches(
                        8,
                        List.of(
                                new MicroBatchPeaks(4, List.of()),
                                new MicroBatchPeaks(
                                        8,
                                        List.of(new PhasePeak(
                                                Phase.BACKWARD, Optional.empty(), Optional.of(bytes(80))))))));
    }

    @Test
    void aSizeOfNoSampleIsRefused() {
        assertThat(catchThrowableOfType(
                        BadMessageException.class,
                        () -> parse("{'type':'phase-summary','step':7,'microBatch':8,'microBatches':[{'samples':0}]}")))
                .hasMessageContaining("microBatches must be at most 8 sizes of 1 sample or more");
    }
}
