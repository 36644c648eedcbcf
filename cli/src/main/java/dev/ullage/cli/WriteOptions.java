package dev.ullage.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ullage.cli.client.ApiException;
import dev.ullage.config.SettingsException;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Whom an operator's command asks, with which token, and how it shows the answer. */
final class WriteOptions {
    @Option(names = "--json", description = "The answer as JSON.")
    private boolean json;

    @Mixin
    private TokenOptions token = new TokenOptions();

    @Mixin
    private ServerOption server = new ServerOption();

    static ObjectNode body() {
        return JsonNodeFactory.instance.objectNode();
    }

    /**
     * Asks for the change and shows what the coordinator says that it does.
     *
     * @param name of the write: the last part of its path
     */
    int send(String name, ObjectNode body, CliEnvironment environment)
            throws SettingsException, CommandFailure, ApiException {
        JsonNode answer =
                server.client().write(name, body, token.read(environment).secret());
        environment
                .out()
                .println(json ? answer.toString() : answer.path("message").asText());
        return ExitCode.OK.code();
    }
}
