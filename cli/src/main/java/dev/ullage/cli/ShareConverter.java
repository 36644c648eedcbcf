package dev.ullage.cli;

import dev.ullage.common.model.Share;
import dev.ullage.common.model.Shares;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A share on the command line: refused here already, with the forms that are accepted. */
final class ShareConverter implements ITypeConverter<Share> {
    @Override
    public Share convert(String text) {
        try {
            return Shares.parse(text);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }
}
