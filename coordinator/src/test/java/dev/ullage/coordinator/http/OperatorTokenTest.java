package dev.ullage.coordinator.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OperatorTokenTest {
    private final Path stateDir;

    OperatorTokenTest(@TempDir Path folder) {
        this.stateDir = folder.resolve("state/ullage");
    }

    @Test
    void theFirstStartMakesATokenOnlyItsUserCanRead() throws IOException {
        OperatorToken token = OperatorToken.loadOrCreate(stateDir);

        Path file = OperatorToken.file(stateDir);
        assertThat(token.secret()).matches("[A-Za-z0-9_-]{43}");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(stateDir)))
                .isEqualTo("rwx------");
        assertThat(stateDir).isDirectoryContaining(file::equals).isDirectoryNotContaining("glob:**.new");
    }

    @Test
    void everyLaterStartReadsTheSameToken() throws IOException {
        String first = OperatorToken.loadOrCreate(stateDir).secret();

        assertThat(OperatorToken.loadOrCreate(stateDir).secret()).isEqualTo(first);
        assertThat(OperatorToken.read(OperatorToken.file(stateDir)).matches(first))
                .isTrue();
    }

    @Test
    void twoFoldersHaveTwoTokens() throws IOException {
        OperatorToken one = OperatorToken.loadOrCreate(stateDir);
        OperatorToken other = OperatorToken.loadOrCreate(stateDir.resolve("other"));

        assertThat(one.matches(other.secret())).isFalse();
    }

    @Test
    void aTokenThatOthersCanReadIsRefused() throws IOException {
        OperatorToken.loadOrCreate(stateDir);
        Path file = OperatorToken.file(stateDir);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));

        assertThatThrownBy(() -> OperatorToken.loadOrCreate(stateDir))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(file + " is open to others (rw-r-----)")
                .hasMessageContaining("delete it to have a new one made");
    }

    @Test
    void aFileThatHoldsNoTokenIsRefused() throws IOException {
        OperatorToken.loadOrCreate(stateDir);
        Files.writeString(OperatorToken.file(stateDir), "");

        assertThatThrownBy(() -> OperatorToken.loadOrCreate(stateDir))
                .hasMessage(OperatorToken.file(stateDir) + " holds no token; delete it to have a new one made");
    }

    @Test
    void aMissingTokenIsReportedWithWhatMakesIt() {
        assertThatThrownBy(() -> OperatorToken.read(OperatorToken.file(stateDir)))
                .hasMessageContaining("no token in " + OperatorToken.file(stateDir))
                .hasMessageContaining("when a coordinator first starts");
    }

    @Test
    void theSecretIsNotInTheLog() throws IOException {
        OperatorToken token = OperatorToken.loadOrCreate(stateDir);

        assertThat(token.toString()).doesNotContain(token.secret());
    }
}
