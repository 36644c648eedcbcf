package dev.ullage.common.protocol;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonStreamContext;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.BeanDescription;
import com.fasterxml.jackson.databind.BeanProperty;
import com.fasterxml.jackson.databind.DeserializationConfig;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.deser.BeanDeserializerModifier;
import com.fasterxml.jackson.databind.deser.ContextualDeserializer;
import com.fasterxml.jackson.databind.deser.DeserializationProblemHandler;
import com.fasterxml.jackson.databind.deser.std.DelegatingDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.type.CollectionType;
import com.fasterxml.jackson.databind.type.ReferenceType;
import dev.ullage.common.model.EnforcedBy;
import dev.ullage.common.model.EventSeverity;
import dev.ullage.common.model.OomKind;
import dev.ullage.common.model.RankWatch.LeakState;
import dev.ullage.common.model.SampleState;
import dev.ullage.common.protocol.ToCoordinator.SubmitRequest;
import dev.ullage.common.protocol.ToCoordinator.WishesReported;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How values of enums that only a newer peer knows are read, so that one of them in one rank's sample does not cost the
 * sample of a whole device. Named in the serializer's settings as a Jackson module.
 *
 * <p>A report is read without it: an enum that has a value for that says it ({@link #INSTEAD}), else what it is needed
 * for is left out, up to the nearest list or optional part. An order or a write is obeyed as a whole or not at all:
 * these are refused, like a report in which nothing can be left out. A record that is kept is kept as a whole: in one,
 * even a field that is not known is too much, for without it the record would have the stamp of the whole one.
 */
public final class NewerValues extends SimpleModule {
    private static final long serialVersionUID = 1L;
    private static final Logger LOG = LoggerFactory.getLogger(NewerValues.class);

    /** What is true of every value that these may ever have. */
    private static final Map<Class<?>, Enum<?>> INSTEAD = Map.of(
            EnforcedBy.class, EnforcedBy.ADVISORY,
            EventSeverity.class, EventSeverity.WARNING,
            LeakState.class, LeakState.UNKNOWN,
            OomKind.class, OomKind.UNKNOWN,
            SampleState.class, SampleState.STALE);

    /** Set while something is read that counts only as a whole. */
    private static final Object AS_A_WHOLE = new Object();

    /** Every one is said once; a peer that makes them up shall not fill the log. */
    private static final int MAX_SAID = 100;

    public NewerValues() {
        super("ullage-newer-values");
    }

    @Override
    public void setupModule(SetupContext context) {
        super.setupModule(context);
        context.addDeserializationProblemHandler(new Handler());
        context.addBeanDeserializerModifier(new Modifier());
    }

    private static boolean countsAsAWhole(Class<?> type) {
        return ToWorker.class.isAssignableFrom(type)
                || OperatorWrite.class.isAssignableFrom(type)
                || type == SubmitRequest.class
                || type == WishesReported.class;
    }

    private static final class UnknownValueException extends JsonMappingException {
        private static final long serialVersionUID = 1L;

        UnknownValueException(JsonParser parser, String message) {
            super(parser, message);
        }
    }

    private static final class Handler extends DeserializationProblemHandler {
        private final Set<String> said = ConcurrentHashMap.newKeySet();

        @Override
        public Object handleWeirdStringValue(
                DeserializationContext context, Class<?> type, String value, String failure) throws IOException {
            if (!type.isEnum()) {
                return NOT_HANDLED;
            }
            Enum<?> instead = INSTEAD.get(type);
            if (said.size() < MAX_SAID && said.add(type.getName() + "." + value)) {
                LOG.warn(
                        "type={} value=\"{}\" reason=\"not known to this version: another node has a newer one; {}\"",
                        type.getSimpleName(),
                        value,
                        instead == null ? "what needs it is left out" : "read as " + instead);
            }
            if (instead == null) {
                throw new UnknownValueException(
                        context.getParser(),
                        "\"" + value + "\" is no " + type.getSimpleName() + " that this version knows");
            }
            return instead;
        }

        @Override
        public boolean handleUnknownProperty(
                DeserializationContext context,
                JsonParser parser,
                JsonDeserializer<?> deserializer,
                Object partOrClass,
                String name)
                throws IOException {
            Class<?> part = partOrClass instanceof Class<?> type ? type : partOrClass.getClass();
            if (isKept(part) && context.getAttribute(AS_A_WHOLE) != null) {
                throw new UnknownValueException(
                        parser,
                        "\"" + name + "\" is no part of a " + part.getSimpleName() + " that this version knows");
            }
            return false;
        }
    }

    private static boolean isKept(Class<?> part) {
        return part == OperatorRecord.class || part.getDeclaringClass() == OperatorRecord.class;
    }

    private static final class Modifier extends BeanDeserializerModifier {
        private static final long serialVersionUID = 1L;

        @Override
        public JsonDeserializer<?> modifyDeserializer(
                DeserializationConfig config, BeanDescription description, JsonDeserializer<?> deserializer) {
            return countsAsAWhole(description.getBeanClass()) ? new Whole(deserializer) : deserializer;
        }

        @Override
        public JsonDeserializer<?> modifyReferenceDeserializer(
                DeserializationConfig config,
                ReferenceType type,
                BeanDescription description,
                JsonDeserializer<?> deserializer) {
            return mayBeUnknown(type.getContentType()) ? new OptionalPart(deserializer) : deserializer;
        }

        @Override
        public JsonDeserializer<?> modifyCollectionDeserializer(
                DeserializationConfig config,
                CollectionType type,
                BeanDescription description,
                JsonDeserializer<?> deserializer) {
            boolean isList = List.class.isAssignableFrom(type.getRawClass());
            return isList && mayBeUnknown(type.getContentType()) ? new Entries(type.getContentType()) : deserializer;
        }

        private static boolean mayBeUnknown(JavaType type) {
            return type.isEnumType() || type.getRawClass().isRecord();
        }
    }

    private static final class Whole extends DelegatingDeserializer {
        private static final long serialVersionUID = 1L;

        Whole(JsonDeserializer<?> delegate) {
            super(delegate);
        }

        @Override
        protected JsonDeserializer<?> newDelegatingInstance(JsonDeserializer<?> delegate) {
            return new Whole(delegate);
        }

        @Override
        public Object deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            context.setAttribute(AS_A_WHOLE, true);
            return super.deserialize(parser, context);
        }
    }

    private static final class OptionalPart extends DelegatingDeserializer {
        private static final long serialVersionUID = 1L;

        OptionalPart(JsonDeserializer<?> delegate) {
            super(delegate);
        }

        @Override
        protected JsonDeserializer<?> newDelegatingInstance(JsonDeserializer<?> delegate) {
            return new OptionalPart(delegate);
        }

        @Override
        public @Nullable Object deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            JsonStreamContext around = parser.getParsingContext();
            if (parser.currentToken() == JsonToken.START_OBJECT) {
                around = around.getParent();
            }
            try {
                return super.deserialize(parser, context);
            } catch (UnknownValueException e) {
                leaveOut(e, parser, around, context);
                return getNullValue(context);
            }
        }
    }

    /** A list of which single entries may be left out. */
    private static final class Entries extends JsonDeserializer<Object> implements ContextualDeserializer {
        private final JavaType type;
        private final @Nullable JsonDeserializer<Object> entry;

        Entries(JavaType type) {
            this(type, null);
        }

        private Entries(JavaType type, @Nullable JsonDeserializer<Object> entry) {
            this.type = type;
            this.entry = entry;
        }

        @Override
        public JsonDeserializer<?> createContextual(DeserializationContext context, @Nullable BeanProperty property)
                throws JsonMappingException {
            return new Entries(type, context.findContextualValueDeserializer(type, property));
        }

        @Override
        public @Nullable Object deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            if (entry == null || !parser.isExpectedStartArrayToken()) {
                return context.handleUnexpectedToken(List.class, parser);
            }
            JsonStreamContext around = parser.getParsingContext();
            List<@Nullable Object> entries = new ArrayList<>();
            while (parser.nextToken() != JsonToken.END_ARRAY) {
                try {
                    boolean isNull = parser.currentToken() == JsonToken.VALUE_NULL;
                    entries.add(isNull ? entry.getNullValue(context) : entry.deserialize(parser, context));
                } catch (UnknownValueException e) {
                    leaveOut(e, parser, around, context);
                }
            }
            return entries;
        }
    }

    /**
     * Goes to the end of a value that could not be read to its end.
     *
     * @param around what the value lies in
     */
    private static void leaveOut(
            UnknownValueException cause, JsonParser parser, JsonStreamContext around, DeserializationContext context)
            throws IOException {
        if (context.getAttribute(AS_A_WHOLE) != null) {
            throw cause;
        }
        while (parser.getParsingContext() != around && parser.nextToken() != null) {
            // what is left of it
        }
    }
}
