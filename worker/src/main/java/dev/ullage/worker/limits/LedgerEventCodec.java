package dev.ullage.worker.limits;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import dev.ullage.common.ledger.LedgerEvent;
import dev.ullage.common.ledger.LedgerEvent.LimitConfirmed;
import dev.ullage.common.ledger.LedgerEvent.LimitOrdered;
import dev.ullage.common.ledger.LedgerEvent.Opened;
import dev.ullage.common.ledger.LedgerEvent.RankAdopted;
import dev.ullage.common.ledger.LedgerEvent.RankJoined;
import dev.ullage.common.ledger.LedgerEvent.RankLeft;
import dev.ullage.common.ledger.LedgerEvent.ReservationCommitted;
import dev.ullage.common.ledger.LedgerEvent.ReservationExpired;
import dev.ullage.common.ledger.LedgerEvent.ReservationMade;
import dev.ullage.common.ledger.LedgerEvent.ReservationReleased;
import dev.ullage.common.ledger.LedgerEvent.Snapshot;
import dev.ullage.common.ledger.LedgerEvent.TermsInForce;
import dev.ullage.common.ledger.LedgerEvent.TermsWanted;
import dev.ullage.common.ledger.LedgerEvent.TokenSeen;
import java.io.IOException;
import java.util.List;
import java.util.Objects;

/** Ledger events as JSON. Written once, read for years: names here never change, fields are only added. */
final class LedgerEventCodec {
    private static final TypeReference<List<LedgerEvent>> LIST = new TypeReference<>() {};

    private final ObjectMapper mapper = JsonMapper.builder()
            .addModule(new Jdk8Module())
            .disable(MapperFeature.AUTO_DETECT_IS_GETTERS)
            .addMixIn(LedgerEvent.class, Named.class)
            .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "event")
    @JsonSubTypes({
        @JsonSubTypes.Type(value = Opened.class, name = "opened"),
        @JsonSubTypes.Type(value = TokenSeen.class, name = "token-seen"),
        @JsonSubTypes.Type(value = TermsWanted.class, name = "terms-wanted"),
        @JsonSubTypes.Type(value = TermsInForce.class, name = "terms-in-force"),
        @JsonSubTypes.Type(value = RankJoined.class, name = "rank-joined"),
        @JsonSubTypes.Type(value = RankAdopted.class, name = "rank-adopted"),
        @JsonSubTypes.Type(value = LimitOrdered.class, name = "limit-ordered"),
        @JsonSubTypes.Type(value = LimitConfirmed.class, name = "limit-confirmed"),
        @JsonSubTypes.Type(value = RankLeft.class, name = "rank-left"),
        @JsonSubTypes.Type(value = ReservationMade.class, name = "reservation-made"),
        @JsonSubTypes.Type(value = ReservationCommitted.class, name = "reservation-committed"),
        @JsonSubTypes.Type(value = ReservationReleased.class, name = "reservation-released"),
        @JsonSubTypes.Type(value = ReservationExpired.class, name = "reservation-expired"),
        @JsonSubTypes.Type(value = Snapshot.class, name = "snapshot")
    })
    private interface Named {}

    byte[] encode(List<LedgerEvent> events) throws JsonProcessingException {
        return mapper.writerFor(LIST).writeValueAsBytes(events);
    }

    List<LedgerEvent> decode(byte[] payload) throws IOException {
        List<LedgerEvent> events = mapper.readerFor(LIST).readValue(payload);
        if (events == null || events.stream().anyMatch(Objects::isNull)) {
            throw new JsonMappingException(null, "null instead of an event");
        }
        return events;
    }
}
