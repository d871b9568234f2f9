package dev.sandglass.gateway.contract.sandglass.resource;

import dev.sandglass.gateway.action.RunningFolders;
import dev.sandglass.gateway.contract.InvalidArgument;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * Where a page of resources begins, as an opaque text: any replica reads it. It gives no rights, because it only says where
 * in the caller's own list to go on. Pure.
 */
final class ListCursor {

    /** More than the longest names take. */
    static final int MAX_CHARS = 1024;

    private ListCursor() {}

    static String text(RunningFolders.Position position) {
        String plain = position.tenant() + "/" + position.name();
        return Base64.getUrlEncoder().withoutPadding().encodeToString(plain.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Reads what a caller sent.
     *
     * @throws InvalidArgument if it is not a cursor of ours
     */
    static RunningFolders.Position parse(String cursor) {
        String plain = cursor.length() <= MAX_CHARS ? plain(cursor) : "";
        int slash = plain.lastIndexOf('/');
        if (slash <= 0 || slash == plain.length() - 1) {
            throw notOurs();
        }
        return new RunningFolders.Position(plain.substring(0, slash), plain.substring(slash + 1));
    }

    private static String plain(String cursor) {
        try {
            byte[] bytes = Base64.getUrlDecoder().decode(cursor);
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (IllegalArgumentException | CharacterCodingException odd) {
            throw notOurs();
        }
    }

    private static InvalidArgument notOurs() {
        return new InvalidArgument(
                "'cursor' must be a nextCursor that resources/list gave; leave it out for the first page");
    }
}
