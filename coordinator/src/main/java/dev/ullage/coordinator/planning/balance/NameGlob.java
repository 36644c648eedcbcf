package dev.ullage.coordinator.planning.balance;

import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Product names as people point at them: {@code *} is anything, {@code ?} one character, and case does not matter. */
public final class NameGlob {
    private NameGlob() {}

    public static boolean matches(String glob, String name) {
        String pattern = glob.chars()
                .mapToObj(c -> switch (c) {
                    case '*' -> ".*";
                    case '?' -> ".";
                    default -> Pattern.quote(Character.toString(c));
                })
                .collect(Collectors.joining());
        return Pattern.compile(pattern, Pattern.CASE_INSENSITIVE).matcher(name).matches();
    }
}
