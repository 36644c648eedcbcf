package dev.ullage.cli.show;

import java.lang.Character.UnicodeScript;
import java.util.EnumSet;
import java.util.Set;

/** How many columns of a terminal a text takes: names of jobs may be in any script. Pure. */
final class TextWidth {
    private static final Set<UnicodeScript> WIDE = EnumSet.of(
            UnicodeScript.HAN,
            UnicodeScript.HIRAGANA,
            UnicodeScript.KATAKANA,
            UnicodeScript.HANGUL,
            UnicodeScript.BOPOMOFO,
            UnicodeScript.YI);

    private TextWidth() {}

    static int of(String text) {
        return text.codePoints().map(TextWidth::of).sum();
    }

    private static int of(int codePoint) {
        int type = Character.getType(codePoint);
        if (type == Character.NON_SPACING_MARK || type == Character.ENCLOSING_MARK || type == Character.FORMAT) {
            return 0;
        }
        boolean isFullwidth =
                (codePoint >= 0xFF01 && codePoint <= 0xFF60) || (codePoint >= 0x3000 && codePoint <= 0x303E);
        boolean isPicture = codePoint >= 0x1F300 && codePoint <= 0x1FAFF;
        boolean isHalfwidth = codePoint >= 0xFF61 && codePoint <= 0xFFDC;
        boolean isWide = isFullwidth || isPicture || WIDE.contains(UnicodeScript.of(codePoint));
        return isWide && !isHalfwidth ? 2 : 1;
    }

    /** As much of the start as takes no more columns than this; no character is cut in two. */
    static String start(String text, int columns) {
        int end = 0;
        int width = 0;
        while (end < text.length()) {
            int codePoint = text.codePointAt(end);
            width += of(codePoint);
            if (width > columns) {
                break;
            }
            end += Character.charCount(codePoint);
        }
        return text.substring(0, end);
    }

    /** The same of the end. */
    static String end(String text, int columns) {
        int start = text.length();
        int width = 0;
        while (start > 0) {
            int codePoint = text.codePointBefore(start);
            width += of(codePoint);
            if (width > columns) {
                break;
            }
            start -= Character.charCount(codePoint);
        }
        return text.substring(start);
    }
}
