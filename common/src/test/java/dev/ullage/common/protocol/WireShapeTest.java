package dev.ullage.common.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.GenericArrayType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.Test;

/**
 * What a message may be made of. Found the hard way: a record as a map key is corrupted silently, an array breaks
 * equality, {@code Object} reads whatever the sender likes, and a list that is not copied lets two actors share it.
 */
final class WireShapeTest {
    private static final Set<Class<?>> LEAVES =
            Set.of(int.class, long.class, boolean.class, String.class, OptionalInt.class, OptionalLong.class);
    private static final Set<Class<?>> CONTAINERS = Set.of(List.class, Optional.class, ActorRef.class);

    @Test
    void messagesAreRecords() {
        assertThat(messages()).isNotEmpty().allMatch(Class::isRecord);
    }

    @Test
    void partsAreNumbersTextEnumsRecordsListsAndOptionals() {
        List<String> problems = new ArrayList<>();
        for (Class<?> record : reachableRecords()) {
            for (RecordComponent component : record.getRecordComponents()) {
                if (!isAllowed(component.getGenericType())) {
                    problems.add(record.getSimpleName() + "." + component.getName() + ": "
                            + component.getGenericType().getTypeName());
                }
            }
        }
        assertThat(problems).isEmpty();
    }

    // Goal: no two actors share a list. Method: rebuild every record of the full samples with lists that can change.
    @Test
    void listsAreCopied() throws ReflectiveOperationException {
        ActorTestKit kit = ActorTestKit.create();
        try {
            WireSamples samples = new WireSamples(
                    kit.<ToCoordinator>createTestProbe().ref(),
                    kit.<ToWorker>createTestProbe().ref(),
                    kit.<ToOperator>createTestProbe().ref());
            for (WireMessage message : samples.full()) {
                assertCopiesLists(message);
            }
        } finally {
            kit.shutdownTestKit();
        }
    }

    private static void assertCopiesLists(Object record) throws ReflectiveOperationException {
        RecordComponent[] components = record.getClass().getRecordComponents();
        Object[] arguments = new Object[components.length];
        for (int i = 0; i < components.length; i++) {
            Object value = valueOf(components[i], record);
            arguments[i] = value instanceof List<?> list ? new ArrayList<Object>(list) : value;
            for (Object part : partsOf(value)) {
                assertCopiesLists(part);
            }
        }
        Object rebuilt = rebuild(record.getClass(), components, arguments);
        for (int i = 0; i < components.length; i++) {
            if (arguments[i] instanceof List<?> list) {
                list.clear();
                assertThat(valueOf(components[i], rebuilt))
                        .as("%s.%s", record.getClass().getSimpleName(), components[i].getName())
                        .isEqualTo(valueOf(components[i], record));
            }
        }
    }

    private static Object rebuild(Class<?> type, RecordComponent[] components, Object[] arguments)
            throws ReflectiveOperationException {
        var constructor = type.getDeclaredConstructor(
                Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new));
        constructor.setAccessible(true);
        return constructor.newInstance(arguments);
    }

    private static Object valueOf(RecordComponent component, Object record)
            throws InvocationTargetException, IllegalAccessException {
        return component.getAccessor().invoke(record);
    }

    private static List<Object> partsOf(Object value) {
        Stream<?> parts = value instanceof List<?> list
                ? list.stream()
                : value instanceof Optional<?> optional ? optional.stream() : Stream.of(value);
        return parts.<Object>map(part -> part)
                .filter(part -> part.getClass().isRecord())
                .toList();
    }

    private static boolean isAllowed(Type type) {
        if (type instanceof GenericArrayType) {
            return false;
        }
        if (type instanceof ParameterizedType parameterized) {
            Type part = parameterized.getActualTypeArguments()[0];
            // A list has no other form of numbers, and a copy of it refuses null.
            boolean isNumbers = parameterized.getRawType() == List.class && part == Integer.class;
            return CONTAINERS.contains((Class<?>) parameterized.getRawType())
                    && (parameterized.getRawType() == ActorRef.class || isNumbers || isAllowed(part));
        }
        return type instanceof Class<?> plain && (LEAVES.contains(plain) || plain.isEnum() || plain.isRecord());
    }

    private static Set<Class<?>> reachableRecords() {
        Set<Class<?>> seen = new LinkedHashSet<>();
        Deque<Type> open = new ArrayDeque<>(messages());
        while (!open.isEmpty()) {
            Type type = open.pop();
            if (type instanceof ParameterizedType parameterized && parameterized.getRawType() != ActorRef.class) {
                open.addAll(List.of(parameterized.getActualTypeArguments()));
            } else if (type instanceof Class<?> plain && plain.isRecord() && seen.add(plain)) {
                Arrays.stream(plain.getRecordComponents())
                        .map(RecordComponent::getGenericType)
                        .forEach(open::add);
            }
        }
        assertThat(seen).noneMatch(Map.class::isAssignableFrom);
        return seen;
    }

    private static List<Class<?>> messages() {
        return Stream.of(WireMessage.class.getPermittedSubclasses())
                .<Class<?>>flatMap(direction -> Stream.of(direction.getPermittedSubclasses()))
                .toList();
    }
}
