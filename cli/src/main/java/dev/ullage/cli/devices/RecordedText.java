package dev.ullage.cli.devices;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

/**
 * The text of a file that some shell wrote: UTF-8, or UTF-16 as {@code >} does in Windows PowerShell, with or without
 * the mark at its beginning that says which. Pure.
 */
final class RecordedText {
    private static final char MARK = '\ufeff';
    /** So much tells: everything that the tool prints begins with plain letters and signs. */
    private static final int LOOKED_AT = 64;

    private RecordedText() {}

    static String decode(byte[] bytes) {
        String text = new String(bytes, charset(bytes));
        return text.isEmpty() || text.charAt(0) != MARK ? text : text.substring(1);
    }

    private static Charset charset(byte[] bytes) {
        int even = 0;
        int odd = 0;
        int pairs = Math.min(bytes.length, LOOKED_AT) / 2;
        for (int i = 0; i < pairs; i++) {
            even += bytes[2 * i] == 0 ? 1 : 0;
            odd += bytes[2 * i + 1] == 0 ? 1 : 0;
        }
        if (pairs > 1 && odd > pairs / 2 && even == 0) {
            return StandardCharsets.UTF_16LE;
        }
        return pairs > 1 && even > pairs / 2 && odd == 0 ? StandardCharsets.UTF_16BE : StandardCharsets.UTF_8;
    }
}
