package dev.ullage.coordinator.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.util.ByteString;

/** The description of the API for programs (OpenAPI 3.1). A test keeps it true to {@link ApiRoutes}. */
final class OpenApi {
    private static final String RESOURCE = "openapi.json";

    private final ByteString document;

    private OpenApi(ByteString document) {
        this.document = document;
    }

    /** Throws {@link IllegalStateException} when the distribution lacks it. */
    static OpenApi load() {
        try (InputStream in = OpenApi.class.getResourceAsStream(RESOURCE)) {
            if (in == null) {
                throw new IllegalStateException("this distribution lacks " + RESOURCE);
            }
            return new OpenApi(ByteString.fromArrayUnsafe(in.readAllBytes()));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + RESOURCE, e);
        }
    }

    HttpResponse answer() {
        return ApiRoutes.secured(
                HttpResponse.create().withEntity(HttpEntities.create(ContentTypes.APPLICATION_JSON, document)));
    }
}
