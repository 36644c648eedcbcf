package dev.ullage.coordinator.http;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.util.ByteString;

/**
 * The files of the live page and of a report's, read once from the class path. Only these are served, by their exact
 * names; a browser asks each time whether it still has the newest.
 */
final class PageFiles {
    /** Scripts, styles and data come from here alone, and nothing may be written into the page as markup. */
    static final String CONTENT_SECURITY_POLICY =
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:;"
                    + " base-uri 'none'; frame-ancestors 'none'; form-action 'none'";

    private static final String OWN = "/dev/ullage/coordinator/http/page/";
    private static final String LIBRARY = "/META-INF/resources/webjars/uplot/";
    private static final String LIBRARY_FACTS = "/META-INF/maven/org.webjars.npm/uplot/pom.properties";
    private static final String INDEX = "";
    static final String REPORT = "report.html";

    private static final ContentType HTML = ContentTypes.TEXT_HTML_UTF8;
    private static final ContentType SCRIPT = ContentTypes.parse("text/javascript; charset=UTF-8");
    private static final ContentType STYLE = ContentTypes.parse("text/css; charset=UTF-8");
    private static final ContentType PICTURE = ContentTypes.parse("image/svg+xml");
    private static final List<String> OWN_FILES = List.of(
            "page.css",
            "main.js",
            "stream.js",
            "model.js",
            "overview.js",
            "map.js",
            "device.js",
            "job.js",
            "jobs.js",
            "queue.js",
            "hosts.js",
            "table.js",
            "evenness.js",
            "bars.js",
            "events.js",
            "history.js",
            "chart.js",
            "format.js",
            "report.css",
            "report.js",
            "dom.js",
            "icon.svg");

    private final Map<String, PageFile> files;

    private record PageFile(ByteString bytes, ContentType type, String tag) {}

    private PageFiles(Map<String, PageFile> files) {
        this.files = files;
    }

    /** Throws {@link IllegalStateException} when the distribution lacks one. */
    static PageFiles load() {
        Map<String, PageFile> files = new TreeMap<>();
        files.put(INDEX, read(OWN + "index.html", HTML));
        files.put(REPORT, read(OWN + REPORT, HTML));
        OWN_FILES.forEach(name -> files.put(name, read(OWN + name, typeOf(name))));
        String library = LIBRARY + libraryVersion() + "/dist/";
        files.put("uplot.js", read(library + "uPlot.esm.js", SCRIPT));
        files.put("uplot-global.js", read(library + "uPlot.iife.min.js", SCRIPT));
        files.put("uplot.css", read(library + "uPlot.min.css", STYLE));
        return new PageFiles(files);
    }

    boolean has(String name) {
        return !name.equals(INDEX) && !name.equals(REPORT) && files.containsKey(name);
    }

    ByteString bytes(String name) {
        PageFile file = files.get(name);
        if (file == null) {
            throw new IllegalArgumentException("no file of the page: " + name);
        }
        return file.bytes();
    }

    HttpResponse answer(String name, HttpRequest request) {
        PageFile file = files.get(name);
        if (file == null) {
            throw new IllegalArgumentException("no file of the page: " + name);
        }
        Optional<String> known = request.getHeader("If-None-Match").map(HttpHeader::value);
        HttpResponse response = known.equals(Optional.of(file.tag()))
                ? HttpResponse.create().withStatus(StatusCodes.NOT_MODIFIED)
                : HttpResponse.create().withEntity(HttpEntities.create(file.type(), file.bytes()));
        return response.addHeader(RawHeader.create("ETag", file.tag()))
                .addHeader(RawHeader.create("Cache-Control", "no-cache"))
                .addHeader(RawHeader.create("X-Content-Type-Options", "nosniff"))
                .addHeader(RawHeader.create("Referrer-Policy", "no-referrer"))
                .addHeader(RawHeader.create("Content-Security-Policy", CONTENT_SECURITY_POLICY));
    }

    /** Part of the paths in its jar. */
    private static String libraryVersion() {
        Properties facts = new Properties();
        try {
            facts.load(new ByteArrayInputStream(resource(LIBRARY_FACTS)));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + LIBRARY_FACTS, e);
        }
        return facts.getProperty("version", "unknown");
    }

    private static ContentType typeOf(String name) {
        return name.endsWith(".js") ? SCRIPT : name.endsWith(".css") ? STYLE : PICTURE;
    }

    private static PageFile read(String path, ContentType type) {
        byte[] bytes = resource(path);
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
            return new PageFile(
                    ByteString.fromArrayUnsafe(bytes),
                    type,
                    '"' + HexFormat.of().formatHex(digest, 0, 16) + '"');
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] resource(String path) {
        try (InputStream in = PageFiles.class.getResourceAsStream(path)) {
            if (in == null) {
                throw new IllegalStateException("this distribution lacks a file of its page: " + path);
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + path, e);
        }
    }
}
