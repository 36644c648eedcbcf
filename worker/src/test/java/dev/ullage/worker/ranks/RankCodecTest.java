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
import dev.ullage.common.model.Phase;
import dev.ullage.common.model.RankFacts;
import dev.ullage.common.model.RankId;
import dev.ullage.common.model.RankUse;
import dev.ullage.worker.ranks.BadMessageException.Code;
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
            + "'localWorldSize':8,'pid':4242,'launcher':'torchrun','restart':2,'visibleDevices':'0,1,2,3',"
            + "'deviceOrder':'PCI_BUS_ID','containerDevices':'all',"
            + "'device':'GPU-5a','framework':'torch 2.10.0','canEnforce':['torch','allocator'],"
            + "'inForce':{'sequence':41,'limitBytes':68719476736},'heldBytes':1234567}";

    private final RankCodec codec = new RankCodec();

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
                        Optional.of(MemoryBytes.of(1234567))));
    }

    @Test
    void whatARankDoesNotKnowIsNullOrAbsent() throws BadMessageException {
        RankMessage.Hello expected = new RankMessage.Hello(
                new RankId(new JobId("j"), 0),
                1,
                new RankFacts(OptionalInt.of(1), OptionalInt.of(0), "none", 0, Optional.empty(), List.of()),
                new RankMessage.DeviceWish(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty()),
                Optional.empty(),
                Optional.empty());
        String start = "{'type':'hello','version':1,'job':'j','rank':0,'worldSize':1,'localRank':0,'pid':1,"
                + "'launcher':'none'";

        assertThat(parse(start + "}")).isEqualTo(expected);
        assertThat(parse(start + ",'restart':null,'visibleDevices':null,'device':null,'framework':null,"
                        + "'canEnforce':null,'inForce':null,'heldBytes':null,'later':{'a':[1]}}"))
                .isEqualTo(expected);
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
                "{'type':'by'}                       | unknown type \"by\"",
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
                "{'type':'attach','session':'s'}     | token must be a string, is absent",
                "{'type':'phase','phase':'forward'}  | unknown phase \"forward\"; known:"
                        + " [INIT, FORWARD, BACKWARD, OPTIMIZER, EVALUATION, CHECKPOINT, IDLE]",
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
                "'job':'9a1c'             | 'job':' '              | JobId must not be blank",
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
    void whatARankWroteNeverMakesALongLineOrControlsATerminal() {
        assertThat(refused("{'type':'" + "x".repeat(60_000) + "'}").getMessage())
                .hasSizeLessThan(500);
        assertThat(refused("\u001b[2J").getMessage()).isEqualTo("not JSON: ?[2J");
        assertThat(refused(HELLO.replace("'torchrun'", "'" + "x".repeat(201) + "'")))
                .hasMessage("launcher must have at most 200 characters, has 201");
        assertThat(refused("[".repeat(60_000))).isNotNull();
    }

    @Test
    void aWelcomeSaysAllThis() {
        TestInbox<RankSession.Command> session = TestInbox.create();
        SessionHandle handle = new SessionHandle("job/3@4242:99", "dG9r", session.getRef(), Instant.EPOCH);
        MemoryBytes total = MemoryBytes.of(80);
        MemoryUse memory = new MemoryUse(total, Optional.empty(), MemoryBytes.ZERO, total);
        String start = "{\"type\":\"welcome\",\"version\":1,\"session\":\"job/3@4242:99\",\"token\":\"dG9r\","
                + "\"device\":\"GPU-a\",\"deviceIndex\":0,\"deviceName\":\"SIM-100G\",\"deviceKind\":\"simulated\","
                + "\"node\":\"host-a\",\"deviceTotalBytes\":";

        assertThat(text(codec.welcome(handle, new NodeId("host-a"), aDevice().info(), Optional.of(memory))))
                .isEqualTo(start + "80}\n");
        assertThat(text(codec.welcome(handle, new NodeId("host-a"), aDevice().info(), Optional.empty())))
                .isEqualTo(start + "null}\n");
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
