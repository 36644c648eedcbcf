package dev.ullage.worker.ranks;

import static dev.ullage.common.testing.DeviceBuilder.aDevice;
import static dev.ullage.common.testing.Fixtures.limits;
import static dev.ullage.common.testing.Fixtures.rank;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.ullage.common.ledger.Order;
import dev.ullage.common.model.DeviceReading.MemoryUse;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.NeedsRestart;
import dev.ullage.common.model.NodeId;
import dev.ullage.common.model.OomKind;
import dev.ullage.common.model.OomLevel;
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankUse;
import dev.ullage.common.model.RankWatch;
import dev.ullage.common.protocol.BatchShares;
import dev.ullage.common.protocol.JobDirective;
import dev.ullage.common.protocol.OomReport.Figures;
import dev.ullage.common.protocol.OomReport.Means;
import dev.ullage.common.protocol.TurnPlan.RankTurn;
import dev.ullage.common.testing.TestClock;
import dev.ullage.worker.ranks.BadMessageException.Code;
import dev.ullage.worker.turns.TurnAnswer;
import dev.ullage.worker.turns.TurnDesk;
import dev.ullage.worker.watch.StepSummary;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.apache.pekko.actor.testkit.typed.javadsl.TestInbox;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** docs/protocol.md, section 1, to the letter. */
class RankCodecTest {
    private static final String HELLO = "{'type':'hello','version':1,'job':'9a1c','rank':3,'worldSize':8,'localRank':3,"
            + "'localWorldSize':8,'pid':4242,'pidNamespace':4026531836,'startTicks':987654,'launcher':'torchrun','restart':2,'visibleDevices':'0,1,2,3',"
            + "'deviceOrder':'PCI_BUS_ID','containerDevices':'all',"
            + "'device':'GPU-5a','framework':'torch 2.10.0','canEnforce':['torch','allocator'],"
            + "'inForce':{'sequence':41,'limitBytes':68719476736},'heldBytes':1234567,'turnBytes':77,'turnAsk':5}";

    private final RankCodec codec = new RankCodec(500);

    private RankMessage parse(String json) throws BadMessageException {
        return codec.parse(json.replace('\'', '"').getBytes(UTF_8));
    }

    private BadMessageException refused(String json) {
        return catchThrowableOfType(BadMessageException.class, () -> parse(json));
    }

    private static String text(byte[] line) {
        return new String(line, UTF_8);
    }

    @Test
    void aHelloSaysAllThis() throws BadMessageException {
        assertThat(parse(HELLO))
                .isEqualTo(new RankMessage.Hello(
                        new RankId(new JobId("9a1c"), 3),
                        4242,
                        Optional.of(new RankMessage.Namespace(4026531836L, 987654)),
                        new RankFacts(
                                OptionalInt.of(8),
                                OptionalInt.of(3),
                                "torchrun",
                                2,
                                Optional.of("torch 2.10.0"),
                                List.of(EnforcedBy.TORCH, EnforcedBy.ALLOCATOR)),
                        new RankMessage.DeviceWish(
                                Optional.of("0,1,2,3"),
                                Optional.of("GPU-5a"),
                                Optional.of("PCI_BUS_ID"),
                                Optional.of("all")),
                        Optional.of(new RankMessage.InForce(41, MemoryBytes.of(68719476736L))),
                        Optional.of(MemoryBytes.of(1234567)),
                        Optional.of(MemoryBytes.of(77)),
                        5,
                        Optional.empty(),
                        Optional.empty()));
    }

    @Test
    void aHelloMaySayThePolicyOfItsJob() throws BadMessageException {
        RankMessage.Hello hello = (RankMessage.Hello)
                parse("{'type':'hello','version':1,'job':'j','rank':0,'pid':1,'launcher':'none','policy':'growth'}");

        assertThat(hello.facts().policy()).hasValue("growth");
    }

    @Test
    void whatARankDoesNotKnowIsNullOrAbsent() throws BadMessageException {
        RankMessage.Hello expected = new RankMessage.Hello(
                new RankId(new JobId("j"), 0),
                1,
                Optional.empty(),
                new RankFacts(OptionalInt.of(1), OptionalInt.of(0), "none", 0, Optional.empty(), List.of()),
                new RankMessage.DeviceWish(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty()),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                0,
                Optional.empty(),
                Optional.empty());
        String start = "{'type':'hello','version':1,'job':'j','rank':0,'worldSize':1,'localRank':0,'pid':1,"
                + "'launcher':'none'";

        assertThat(parse(start + "}")).isEqualTo(expected);
        assertThat(parse(start + ",'restart':null,'visibleDevices':null,'device':null,'framework':null,"
                        + "'canEnforce':null,'inForce':null,'heldBytes':null,'turnBytes':null,'later':{'a':[1]}}"))
                .isEqualTo(expected);
    }

    @Test
    void anOutOfMemoryErrorSaysAllThisOrOnlyWhatItMust() throws BadMessageException {
        assertThat(parse(
                        "{'type':'oom','sequence':2,'step':17,'phase':'BACKWARD','kind':'DEVICE_FULL','requestedBytes':1,"
                                + "'baseBytes':2,'allocatedBytes':3,'reservedBytes':4,'unusedBytes':5,'limitBytes':6,"
                                + "'microBatch':8,'batch':32,'levels':['SIMPLIFY','LATER','SIMPLIFY'],'retry':true}"))
                .isEqualTo(new RankMessage.RanOut(
                        2,
                        17,
                        Phase.BACKWARD,
                        OomKind.DEVICE_FULL,
                        new Figures(bytes(1), bytes(2), bytes(3), bytes(4), bytes(5), bytes(6)),
                        new Means(OptionalInt.of(8), OptionalInt.of(32), List.of(OomLevel.SIMPLIFY), true)));
        assertThat(parse("{'type':'oom','sequence':0,'step':0,'phase':'INIT','kind':'LATER','retry':false}"))
                .isEqualTo(new RankMessage.RanOut(
                        0,
                        0,
                        Phase.INIT,
                        OomKind.UNKNOWN,
                        Figures.UNKNOWN,
                        new Means(OptionalInt.empty(), OptionalInt.empty(), List.of(), false)));
        assertThat(refused("{'type':'oom','sequence':0,'step':0,'phase':'INIT','microBatch':0,'retry':true}"))
                .hasMessage("microBatch must be 1 or more, is 0");
        assertThat(refused("{'type':'oom','sequence':0,'step':0,'phase':'INIT'}"))
                .hasMessage("retry must be true or false, is absent");
    }

    private static Optional<MemoryBytes> bytes(long value) {
        return Optional.of(MemoryBytes.of(value));
    }

    // Goal: a worker that was started anew learns from a rank exactly what its predecessor told it.
    @Test
    void aDirectiveComesBackAsItWasWritten() throws BadMessageException {
        JobDirective directive = new JobDirective(
                new JobId("9a1c"),
                3,
                17,
                OomLevel.SIMPLIFY,
                new JobDirective.Sizes(OptionalInt.of(8), OptionalInt.of(4)),
                true,
                new JobDirective.Cause(5, bytes(7), List.of(OomLevel.LIMIT, OomLevel.SIMPLIFY), "why"));
        String line = text(codec.directive(directive, false));
        assertThat(line)
                .startsWith("{\"type\":\"directive\",\"resumed\":false,\"job\":\"9a1c\",\"sequence\":3,\"step\":17,");

        assertThat(parse("{'type':'directive-applied','directive':" + line.strip() + ",'usedBytes':9}"))
                .isEqualTo(new RankMessage.DirectiveApplied(Optional.of(directive), bytes(9)));
        assertThat(((RankMessage.Hello) parse(HELLO.replace("'heldBytes'", "'directive':" + line + ",'heldBytes'")))
                        .directive())
                .contains(directive);
        assertThat(parse("{'type':'directive-applied','directive':" + line.replace("SIMPLIFY", "LATER") + "}"))
                .isEqualTo(new RankMessage.DirectiveApplied(Optional.empty(), Optional.empty()));
        assertThat(refused("{'type':'directive-applied'}")).hasMessage("directive must be an object, is absent");
    }

    // Goal: shares of the batch survive a restart of the worker like the rest of the directive.
    @Test
    void batchSharesComeBackAsTheyWereWritten() throws BadMessageException {
        JobDirective directive = new JobDirective(
                new JobId("9a1c"),
                3,
                0,
                OomLevel.LIMIT,
                JobDirective.Sizes.AS_SET,
                false,
                new JobDirective.Cause(0, Optional.empty(), List.of(), "why"),
                Optional.of(new BatchShares(3, 2, 1, List.of(40, 24))));
        String line = text(codec.directive(directive, false)).strip();
        assertThat(line).endsWith("\"shares\":{\"since\":3,\"orders\":2,\"rounds\":1,\"samples\":[40,24]}}");

        assertThat(parse("{'type':'directive-applied','directive':" + line + "}"))
                .isEqualTo(new RankMessage.DirectiveApplied(Optional.of(directive), Optional.empty()));
        assertThat(refused("{'type':'directive-applied','directive':" + line.replace("[40,24]", "[40,-1]") + "}"))
                .hasMessage("samples must be a list of whole numbers of 0 or more, is [40,-1]");
        assertThat(refused("{'type':'directive-applied','directive':" + line.replace("[40,24]", "[40,0]") + "}"))
                .hasMessage("each rank has 1 sample or more: [40, 0]");
        assertThat(refused("{'type':'directive-applied','directive':" + line.replace("[40,24]", "7") + "}"))
                .hasMessage("samples must be a list of whole numbers of 0 or more, is 7");
    }

    @Test
    void aRankThatTakesSharesSaysHowItCutItsBatch() throws BadMessageException {
        assertThat(((RankMessage.Watched) parse("{'type':'phase-summary','step':7,'batch':{'sequence':1,'job':64,"
                                + "'samples':40,'microBatch':20,'most':24,'baseBytes':5}}"))
                        .summary()
                        .batches()
                        .flatMap(RankWatch.Batches::cut))
                .contains(new RankWatch.Batch(1, 64, 40, 20, OptionalInt.of(24), bytes(5)));
        assertThat(((RankMessage.Watched) parse("{'type':'phase-summary','step':7,'batch':{'sequence':0,'job':64,"
                                + "'samples':40,'microBatch':40}}"))
                        .summary()
                        .batches()
                        .flatMap(RankWatch.Batches::cut))
                .contains(new RankWatch.Batch(0, 64, 40, 40, OptionalInt.empty(), Optional.empty()));
        assertThat(refused("{'type':'phase-summary','step':7,'batch':{'sequence':0,'job':64,'samples':0,"
                        + "'microBatch':40}}"))
                .hasMessageContaining("1 sample or more");
    }

    @Test
    void everyOtherMessageIsRead() throws BadMessageException {
        assertThat(parse("{'type':'confirm','sequence':42,'limitBytes':7,'heldBytes':5,'enforcedBy':'hami-core'}"))
                .isEqualTo(new RankMessage.Confirm(
                        42, MemoryBytes.of(7), Optional.of(MemoryBytes.of(5)), EnforcedBy.HAMI_CORE, Optional.empty()));
        assertThat(parse("{'type':'confirm','sequence':42,'limitBytes':7,'enforcedBy':'env',"
                        + "'needsRestart':{'limitBytes':3,'reason':'fixed at start'}}"))
                .isEqualTo(new RankMessage.Confirm(
                        42,
                        MemoryBytes.of(7),
                        Optional.empty(),
                        EnforcedBy.ENV,
                        Optional.of(new NeedsRestart(MemoryBytes.of(7), MemoryBytes.of(3), "fixed at start"))));
        assertThat(parse("{'type':'usage','allocatedBytes':1,'reservedBytes':2,'peakAllocatedBytes':3,"
                        + "'peakReservedBytes':4,'refusals':5}"))
                .isEqualTo(new RankMessage.Usage(new RankUse(
                        Optional.of(MemoryBytes.of(1)),
                        Optional.of(MemoryBytes.of(2)),
                        Optional.of(MemoryBytes.of(3)),
                        Optional.of(MemoryBytes.of(4)),
                        5)));
        assertThat(parse("{'type':'usage'}")).isEqualTo(new RankMessage.Usage(RankUse.UNKNOWN));
        assertThat(parse("{'type':'bye'}")).isEqualTo(new RankMessage.Bye());
        assertThat(parse("{'type':'attach','session':'s','token':'t'}")).isEqualTo(new RankMessage.Attach("s", "t"));
        assertThat(parse("{'type':'phase','phase':'FORWARD','step':17}"))
                .isEqualTo(new RankMessage.PhaseEntered(Phase.FORWARD, OptionalLong.of(17), OptionalLong.empty()));
        assertThat(parse("{'type':'phase','phase':'BACKWARD','id':7}"))
                .isEqualTo(new RankMessage.PhaseEntered(Phase.BACKWARD, OptionalLong.empty(), OptionalLong.of(7)));
    }

    @Test
    void whatWasWatchedMayBeUnknownInEachPart() throws BadMessageException {
        OptionalLong unknown = OptionalLong.empty();
        assertThat(parse("{'type':'phase-summary','step':7,'epoch':null,'phases':{'LATER':{},'IDLE':{}}}"))
                .isEqualTo(new RankMessage.Watched(new StepSummary(
                        7,
                        1,
                        unknown,
                        List.of(new RankWatch.PhasePeak(Phase.IDLE, Optional.empty(), Optional.empty())),
                        new StepSummary.Amounts(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty()),
                        new StepSummary.Counts(unknown, unknown, unknown))));
        assertThat(parse("{'type':'cache-released','step':7,'beforeBytes':5,'afterBytes':null}"))
                .isEqualTo(new RankMessage.CacheReleased(Optional.empty()));
        assertThat(parse("{'type':'snapshot','step':500,'largestFreeBytes':3}"))
                .isEqualTo(new RankMessage.SnapshotTaken(new RankWatch.Snapshot(
                        500,
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.of(MemoryBytes.of(3)),
                        unknown)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{                                   | not JSON: {",
                "{'type':'bye'} x                    | not JSON: {\"type\":\"bye\"} x",
                "[1]                                 | not a JSON object: [1]",
                "7                                   | not a JSON object: 7",
                "{'typ':'bye'}                       | type must be a string, is absent",
                "{'type':7}                          | type must be a string, is 7",
                "{'type':'confirm','sequence':1.5}   | sequence must be a whole number of 0 or more, is 1.5",
                "{'type':'confirm','sequence':-1}    | sequence must be a whole number of 0 or more, is -1",
                "{'type':'confirm','sequence':'1'}   | sequence must be a whole number of 0 or more, is \"1\"",
                "{'type':'confirm','sequence':null}  | sequence must be a whole number of 0 or more, is null",
                "{'type':'confirm','sequence':9007199254740992} | sequence must be at most 9007199254740991, is 9007199254740992",
                "{'type':'confirm','sequence':99999999999999999999} | sequence must be a whole number of 0 or more, is 99999999999999999999",
                "{'type':'confirm','sequence':1,'limitBytes':1125899906842625} | limitBytes must be at most 1125899906842624 bytes, is 1125899906842625",
                "{'type':'confirm','sequence':1,'limitBytes':2,'enforcedBy':'env','needsRestart':true} | needsRestart must be an object, is true",
                "{'type':'confirm','sequence':1,'limitBytes':2,'enforcedBy':'env','needsRestart':{'limitBytes':1}} | reason must be a string, is absent",
                "{'type':'usage','reservedBytes':-5} | reservedBytes must be a whole number of 0 or more, is -5",
                "{'type':'phase-summary','step':1,'phases':[]} | phases must be an object, is []",
                "{'type':'snapshot'}                | step must be a whole number of 0 or more, is absent",
                "{'type':'attach','session':'s'}     | token must be a string, is absent",
                "{'type':'phase','phase':'IDLE','id':true} | id must be a whole number of 0 or more, is true"
            })
    void whatIsNoMessageIsRefusedWithFieldValueAndRule(String json, String reason) {
        BadMessageException refusal = refused(json);

        assertThat(refusal).hasMessage(reason);
        assertThat(refusal.code()).isEqualTo(Code.BAD_MESSAGE);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "'rank':3                 | 'rank':8               | rank 8 is not below worldSize 8",
                "'rank':3                 | 'rank':2147483648      | rank must be at most 2147483647, is 2147483648",
                "'job':'9a1c'             | 'job':' '              | a job's name must not be blank",
                "'restart':2              | 'restart':4294967296   | restart must be at most 2147483647, is 4294967296",
                "'canEnforce':['torch','allocator'] | 'canEnforce':'torch'"
                        + " | canEnforce must be a list of strings, is \"torch\"",
                "'canEnforce':['torch','allocator'] | 'canEnforce':[7] | canEnforce must be a list of strings, is [7]",
                "'inForce':{'sequence':41 | 'inForce':7,'x':{'y':1 | inForce must be an object, is 7",
                "'sequence':41,           | `` | sequence must be a whole number of 0 or more, is absent"
            })
    void aHelloThatIsWrongIsRefusedWithFieldValueAndRule(String part, String wrong, String reason) {
        assertThat(refused(HELLO.replace(part, wrong))).hasMessage(reason);
    }

    @Test
    void anotherVersionHasACodeOfItsOwn() {
        BadMessageException refusal = refused(HELLO.replace("'version':1", "'version':2"));

        assertThat(refusal).hasMessage("this worker speaks version 1, the client 2");
        assertThat(refusal.code()).isEqualTo(Code.BAD_VERSION);
    }

    @Test
    void whatARankWroteNeverMakesALongLineOrControlsATerminal() throws BadMessageException {
        assertThat(refused("{'type':" + "[".repeat(200) + "'" + "x".repeat(60_000) + "'}")
                        .getMessage())
                .hasSizeLessThan(500);
        assertThat(parse("{'type':'\\u001b[2J" + "x".repeat(60_000) + "'}"))
                .isEqualTo(new RankMessage.NotKnown("type ?[2J" + "x".repeat(36) + "...", OptionalLong.empty()));
        assertThat(refused("\u001b[2J").getMessage()).isEqualTo("not JSON: ?[2J");
        assertThat(refused(HELLO.replace("'torchrun'", "'" + "x".repeat(201) + "'")))
                .hasMessage("launcher must have at most 200 characters, has 201");
        assertThat(refused("[".repeat(60_000))).isNotNull();
    }

    @Test
    void turnsAreOfferedAskedForGivenAndReleased() throws BadMessageException {
        RankTurn turn = new RankTurn(rank(0), List.of(Phase.FORWARD, Phase.BACKWARD), MemoryBytes.of(9));

        assertThat(text(codec.turns(Optional.of(turn), Duration.ofSeconds(60))))
                .isEqualTo("{\"type\":\"turns\",\"deadlineMillis\":60000,"
                        + "\"turnBytes\":{\"FORWARD\":9,\"BACKWARD\":9}}\n");
        assertThat(text(codec.turns(Optional.empty(), Duration.ofSeconds(60))))
                .isEqualTo("{\"type\":\"turns\",\"deadlineMillis\":60000,\"turnBytes\":{}}\n");
        assertThat(parse("{'type':'turn','id':7}")).isEqualTo(new RankMessage.TurnAsked(7));
        assertThat(parse("{'type':'turn-released','id':7}")).isEqualTo(new RankMessage.TurnReleased(7));
        assertThat(text(codec.turn(7, new TurnAnswer(rank(0), 1, Optional.of(MemoryBytes.of(9)), ""))))
                .isEqualTo("{\"type\":\"turn\",\"id\":7,\"turnBytes\":9}\n");
        assertThat(text(codec.turn(7, new TurnAnswer(rank(0), 1, Optional.empty(), "no"))))
                .isEqualTo("{\"type\":\"turn\",\"id\":7,\"turnBytes\":null,\"reason\":\"no\"}\n");
    }

    @Test
    void aWelcomeSaysAllThis() {
        TestInbox<RankSession.Command> session = TestInbox.create();
        SessionHandle handle = new SessionHandle(
                "job/3@4242:99",
                "dG9r",
                session.getRef(),
                new TurnSeat(
                        new TurnDesk(Duration.ofSeconds(1), new TestClock()),
                        rank(3),
                        aDevice().info().id()),
                Instant.EPOCH);
        MemoryBytes total = MemoryBytes.of(80);
        MemoryUse memory = new MemoryUse(total, Optional.empty(), MemoryBytes.ZERO, total);
        String start = "{\"type\":\"welcome\",\"version\":1,\"session\":\"job/3@4242:99\",\"token\":\"dG9r\","
                + "\"device\":\"GPU-a\",\"deviceIndex\":0,\"deviceName\":\"SIM-100G\",\"deviceKind\":\"simulated\","
                + "\"node\":\"host-a\",\"snapshotSteps\":500,\"reports\":true,\"deviceTotalBytes\":";

        assertThat(text(codec.welcome(
                        handle, new NodeId("host-a"), aDevice().info(), Optional.of(memory), OptionalInt.empty())))
                .isEqualTo(start + "80}\n");
        assertThat(text(codec.welcome(
                        handle, new NodeId("host-a"), aDevice().info(), Optional.empty(), OptionalInt.of(2))))
                .isEqualTo(start + "null,\"localRank\":2}\n");
    }

    @Test
    void everyOtherAnswerIsWritten() {
        assertThat(text(codec.limits(
                        new Order(rank(0), 42, limits(MemoryBytes.of(5), MemoryBytes.of(7))), Optional.empty())))
                .isEqualTo("{\"type\":\"limits\",\"sequence\":42,\"limitBytes\":{\"INIT\":5,\"FORWARD\":5,"
                        + "\"BACKWARD\":5,\"OPTIMIZER\":7,\"EVALUATION\":5,\"CHECKPOINT\":5,\"IDLE\":5}}\n");
        assertThat(text(codec.error(new BadMessageException(Code.NOT_YOURS, "a \"b\"\n"))))
                .isEqualTo("{\"type\":\"error\",\"code\":\"NOT_YOURS\",\"message\":\"a \\\"b\\\"\\n\"}\n");
        assertThat(text(codec.attached())).isEqualTo("{\"type\":\"attached\"}\n");
        assertThat(text(codec.entered(7, 42, OptionalLong.of(9))))
                .isEqualTo("{\"type\":\"entered\",\"id\":7,\"sequence\":42,\"limitBytes\":9}\n");
        assertThat(text(codec.entered(7, 0, OptionalLong.empty())))
                .isEqualTo("{\"type\":\"entered\",\"id\":7,\"sequence\":0,\"limitBytes\":null}\n");
    }
}
