package dev.ullage.cli;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Why a file cannot be read, as people say it: what Java says of these is the file's name alone. Pure. */
public final class FileReason {
    /** {@code FILE (WHY)}, as streams say it. */
    private static final Pattern WITH_ITS_NAME = Pattern.compile(".* \\((.*)\\)");

    private FileReason() {}

    public static String of(IOException e) {
        String text = String.valueOf(e.getMessage());
        Matcher named = WITH_ITS_NAME.matcher(text);
        String why = e instanceof FileNotFoundException && named.matches() ? named.group(1) : text;
        if (e instanceof NoSuchFileException || why.equals("No such file or directory")) {
            return "there is no such file";
        }
        return e instanceof AccessDeniedException ? "it may not be read by this user" : why;
    }
}
