package dev.ullage.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import org.junit.jupiter.api.Test;

class JobExplanationTest {
    private static final JsonMapper MAPPER = new JsonMapper();

    private static JsonNode status(String device) throws JsonProcessingException {
        String json = "{'nodes':[{'node':'host-a','devices':[{'uuid':'GPU-1'," + device + "}]}]}";
        return MAPPER.readTree(json.replace('\'', '"'));
    }

    @Test
    void everyRankOfTheJobIsExplainedAndNoOther() throws JsonProcessingException {
        JsonNode status = status("'heldBack':'the report is too old','rollout':'STALLED','ranks':["
                + "{'job':'bert','rank':3,'targetBytes':1073741824,'ceilingBytes':2147483648,'usedBytes':null,"
                + "'enforcedBy':'torch','policy':'growth','explanation':'may grow','refusals':2},"
                + "{'job':'other','rank':0}]");

        assertThat(JobExplanation.render(status, "bert", Terminal.NONE))
                .contains(
                        """
                        bert/3 on host-a device GPU-1
                          limit 1.0 GiB, may still believe 2.0 GiB, holds not known, enforced by torch
                          policy growth: may grow
                          its allocator was refused 2 times because of the limit
                          held back: the report is too old
                          the plan for this device is STALLED
                        """);
    }

    @Test
    void oneOfSomethingIsSaidInTheSingular() throws JsonProcessingException {
        JsonNode status = status("'turns':{'poolInForceBytes':0,'outBytes':0,'missed':1},'ranks':["
                + "{'job':'bert','rank':0,'refusals':1}]");

        assertThat(JobExplanation.render(status, "bert", Terminal.NONE).orElseThrow())
                .contains("was refused 1 time because", "; 1 wait ended without a turn\n");
    }

    @Test
    void anOlderCoordinatorThatGivesNoReasonIsNoError() throws JsonProcessingException {
        JsonNode status = status("'ranks':[{'job':'bert','rank':0}]");

        assertThat(JobExplanation.render(status, "bert", Terminal.NONE).orElseThrow())
                .endsWith("  policy not known: not known\n");
    }

    @Test
    void aLimitThatNeedsARestartIsNamedWithWhatHoldsUntilThen() throws JsonProcessingException {
        JsonNode status = status("'ranks':[{'job':'bert','rank':0,'needsRestart':{'inForceBytes':8589934592,"
                + "'limitBytes':4294967296,'reason':'fixed at start'}}]");

        assertThat(JobExplanation.render(status, "bert", Terminal.NONE).orElseThrow())
                .contains("  needs a restart for 4.0 GiB, until then 8.0 GiB: fixed at start\n");
    }

    @Test
    void whatHoldsARankIsExplainedWithBothFiguresAndTheReasons() throws JsonProcessingException {
        JsonNode status = status("'ranks':[{'job':'bert','rank':0,'enforcement':{'processUsedBytes':9663676416,"
                + "'overheadBytes':536870912,'overheadProvisional':true,'allocatorShareBytes':4294967296,"
                + "'inForceBytes':5368709120,'overCeiling':true,"
                + "'whyNotHigher':[{'rung':'driver','reason':'too old'}]}}]");

        assertThat(JobExplanation.render(status, "bert", Terminal.NONE).orElseThrow())
                .endsWith(
                        """
                          its process uses 9.0 GiB, beside its allocator 512.0 MiB (not measured yet)
                          which leaves its allocator 4.0 GiB
                          read back as in force: 5.0 GiB
                          not by driver: too old
                          its processes use more than its ceiling
                        """);
    }

    @Test
    void whatAServerSaysCannotDrawOnTheTerminal() throws JsonProcessingException {
        JsonNode status = status("'ranks':[{'job':'bert','rank':0,'explanation':'\\u001b[2J'}]");

        assertThat(JobExplanation.render(status, "bert", Terminal.NONE).orElseThrow())
                .doesNotContain("\u001b");
    }

    @Test
    void aJobThatNobodyKnowsHasNoExplanation() throws JsonProcessingException {
        JsonNode status = status("'ranks':[{'job':'bert','rank':0},{'job':'gpt','rank':0}]");

        assertThat(JobExplanation.render(status, "resnet", Terminal.NONE)).isEmpty();
        assertThat(JobExplanation.unknown(status, "bret")).isEqualTo("no rank of job bret; known: bert, gpt");
        assertThat(JobExplanation.unknown(status, "Gpt2"))
                .isEqualTo("no rank of job Gpt2 (did you mean gpt?); known: bert, gpt");
    }

    private static final String ESTIMATED =
            "'ranks':[{'job':'bert','rank':0,'settled':true,'limitsBytes':{'FORWARD':11811160064},'needs':{"
                    + "'stage':1,'stages':2,'basis':'measured','phases':[{'phase':'FORWARD',"
                    + "'plannedLowerBytes':9663676416,'plannedBytes':10737418240,'plannedUpperBytes':12884901888,"
                    + "'measuredBytes':9663676416,'correctedBytes':11811160064},{'phase':'IDLE','plannedLowerBytes':null,"
                    + "'plannedBytes':null,'plannedUpperBytes':null,'measuredBytes':1073741824,'correctedBytes':null}],"
                    + "'microBatch':{'samples':8,'sizes':2,'needBytes':9663676416,'perSampleBytes':1073741824,"
                    + "'roomBytes':12884901888,'largestSamples':10}}},{'job':'other','rank':0}]";

    @Test
    void plannedMeasuredCorrectedAndInForceStandBesideEachOther() throws JsonProcessingException {
        assertThat(JobExplanation.render(status(ESTIMATED), "bert", Terminal.NONE)
                        .orElseThrow())
                .contains(
                        """
                          estimate of stage 1 of 2; measured
                            PHASE     PLANNED                RANGE  MEASURED  CORRECTED  IN FORCE
                            FORWARD  10.0 GiB  9.0 GiB to 12.0 GiB   9.0 GiB   11.0 GiB  11.0 GiB
                            IDLE            -                    -   1.0 GiB          -         -
                            micro-batch of 8: 9.0 GiB, each sample more adds 1.0 GiB (by 2 sizes); at most 10 within the 12.0 GiB that it could have
                        """);
    }

    @Test
    void anOrderThatIsNotConfirmedIsNotInForceYet() throws JsonProcessingException {
        assertThat(JobExplanation.render(
                                status(ESTIMATED.replace("'settled':true", "'settled':false")), "bert", Terminal.NONE)
                        .orElseThrow())
                .contains("    FORWARD  10.0 GiB  9.0 GiB to 12.0 GiB   9.0 GiB   11.0 GiB         -\n");
    }

    @Test
    void scriptsAreToldTheSame() throws JsonProcessingException {
        JsonNode json =
                MAPPER.readTree(JobExplanationJson.of(status(ESTIMATED), "bert").orElseThrow());

        assertThat(json.path("job").asText()).isEqualTo("bert");
        assertThat(json.path("ranks")).hasSize(1);
        JsonNode rank = json.path("ranks").get(0);
        assertThat(rank.path("node").asText()).isEqualTo("host-a");
        assertThat(rank.path("device").asText()).isEqualTo("GPU-1");
        assertThat(rank.path("enforcedBy").isNull()).isTrue();
        JsonNode phase = rank.path("needs").path("phases").get(0);
        assertThat(phase.path("inForceBytes").asLong()).isEqualTo(11_811_160_064L);
        assertThat(phase.path("plannedUpperBytes").asLong()).isEqualTo(12_884_901_888L);
        assertThat(rank.path("needs").path("phases").get(1).path("inForceBytes").isNull())
                .isTrue();
        assertThat(JobExplanationJson.of(status(ESTIMATED), "gpt")).isEmpty();
    }
}
