package dev.ullage.common.model;

/** How many of something, as people say it. */
public final class Counts {
    private Counts() {}

    /**
     * As in {@code 1 rank}, {@code 2 ranks}, {@code 0 ranks}, {@code 2 processes}.
     *
     * @param noun in the singular; the plural is made with an s, or es after a hissing sound
     */
    public static String of(long number, String noun) {
        boolean hisses = noun.endsWith("s") || noun.endsWith("x") || noun.endsWith("ch") || noun.endsWith("sh");
        return number + " " + (number == 1 ? noun : noun + (hisses ? "es" : "s"));
    }

    /** The word that goes with a number: {@code has} or {@code have}. */
    public static String word(long number, String one, String many) {
        return number == 1 ? one : many;
    }
}
