package dev.ullage.coordinator.journal;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.std.StdDelegatingDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdDelegatingSerializer;
import com.fasterxml.jackson.databind.util.StdConverter;
import dev.ullage.common.model.DeviceId;
import dev.ullage.common.model.JobId;
import dev.ullage.common.model.MemoryBytes;
import dev.ullage.common.model.PhaseLimits;
import dev.ullage.common.model.RankInstance;
import dev.ullage.common.model.Share;
import dev.ullage.common.model.Weight;
import dev.ullage.common.protocol.TurnPlan;
import dev.ullage.config.PolicyName;
import dev.ullage.coordinator.planning.DeviceTarget;
import dev.ullage.coordinator.planning.DeviceTarget.RankTarget;
import dev.ullage.coordinator.planning.PlanReason;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/** How single values stand in a record: amounts in bytes, shares and weights in basis points, names as they are. */
final class Scalars {
    private Scalars() {}

    static void addTo(SimpleModule module) {
        number(module, MemoryBytes.class, MemoryBytes::value, MemoryBytes::of);
        number(module, Share.class, share -> (long) share.basisPoints(), value -> new Share(Math.toIntExact(value)));
        number(
                module,
                Weight.class,
                weight -> (long) weight.basisPoints(),
                value -> new Weight(Math.toIntExact(value)));
        text(module, DeviceId.class, DeviceId::toString, DeviceId::new);
        text(module, JobId.class, JobId::toString, JobId::new);
        text(module, Duration.class, Duration::toString, Duration::parse);
        text(module, PlanReason.class, PlanReason::text, PlanReason::new);
        text(module, PolicyName.class, PolicyName::label, Scalars::policy);
        module.addSerializer(DeviceTarget.class, new StdDelegatingSerializer(DeviceTarget.class, new ToAsked()));
        module.addDeserializer(DeviceTarget.class, new StdDelegatingDeserializer<>(new OfAsked()));
    }

    private static PolicyName policy(String label) {
        return PolicyName.find(label).orElseThrow(() -> new IllegalArgumentException("no policy is called " + label));
    }

    private static <T> void number(
            SimpleModule module, Class<T> type, Function<T, Long> toNumber, Function<Long, T> ofNumber) {
        module.addSerializer(type, new JsonSerializer<T>() {
            @Override
            public void serialize(T value, JsonGenerator out, SerializerProvider provider) throws IOException {
                out.writeNumber(toNumber.apply(value));
            }
        });
        module.addDeserializer(type, new JsonDeserializer<T>() {
            @Override
            public T deserialize(JsonParser in, DeserializationContext context) throws IOException {
                if (!in.hasToken(JsonToken.VALUE_NUMBER_INT)) {
                    return type.cast(context.handleUnexpectedToken(type, in));
                }
                return ofNumber.apply(in.getLongValue());
            }
        });
    }

    private static <T> void text(
            SimpleModule module, Class<T> type, Function<T, String> toText, Function<String, T> ofText) {
        module.addSerializer(type, new JsonSerializer<T>() {
            @Override
            public void serialize(T value, JsonGenerator out, SerializerProvider provider) throws IOException {
                out.writeString(toText.apply(value));
            }
        });
        module.addDeserializer(type, new JsonDeserializer<T>() {
            @Override
            public T deserialize(JsonParser in, DeserializationContext context) throws IOException {
                if (!in.hasToken(JsonToken.VALUE_STRING)) {
                    return type.cast(context.handleUnexpectedToken(type, in));
                }
                return ofText.apply(in.getText());
            }
        });
    }

    /** A {@link DeviceTarget} with a list in the place of its map, whose keys are no text. */
    private record Asked(Share reserve, boolean unattended, List<AskedRank> ranks, Optional<TurnPlan> turns) {}

    private record AskedRank(RankInstance instance, Optional<PhaseLimits> limits, Share share) {}

    private static final class ToAsked extends StdConverter<DeviceTarget, Asked> {
        @Override
        public Asked convert(DeviceTarget target) {
            List<AskedRank> ranks = target.ranks().entrySet().stream()
                    .map(entry -> new AskedRank(
                            entry.getKey(),
                            entry.getValue().limits(),
                            entry.getValue().share()))
                    .toList();
            return new Asked(target.reserve(), target.isUnattended(), ranks, target.turns());
        }
    }

    private static final class OfAsked extends StdConverter<Asked, DeviceTarget> {
        @Override
        public DeviceTarget convert(Asked asked) {
            NavigableMap<RankInstance, RankTarget> ranks = new TreeMap<>();
            asked.ranks().forEach(rank -> ranks.put(rank.instance(), new RankTarget(rank.limits(), rank.share())));
            return new DeviceTarget(asked.reserve(), ranks, asked.turns(), asked.unattended());
        }
    }
}
