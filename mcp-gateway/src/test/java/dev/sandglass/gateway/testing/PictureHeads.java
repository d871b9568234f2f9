package dev.sandglass.gateway.testing;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** How pictures begin: as much of each format as says its sides. */
public final class PictureHeads {

    /** The formats, with the media types that are answered. */
    public enum Format {
        /** With IHDR. */
        PNG("image/png"),
        /** SOF0 behind JFIF. */
        JPEG("image/jpeg"),
        /** SOF2 behind 130 KB of EXIF, where cameras have a preview. */
        PROGRESSIVE("image/jpeg"),
        /** Of 1987. */
        GIF87("image/gif"),
        /** Of 1989. */
        GIF89("image/gif"),
        /** Lossy. */
        VP8("image/webp"),
        /** Lossless. */
        VP8L("image/webp"),
        /** Extended. */
        VP8X("image/webp");

        /** As answers name it. */
        public final String mimeType;

        Format(String mimeType) {
            this.mimeType = mimeType;
        }
    }

    private PictureHeads() {}

    /** A picture's beginning. */
    public static byte[] of(Format format, int width, int height) {
        return switch (format) {
            case PNG -> png(width, height);
            case JPEG -> jpeg(List.of(segment(0xe0, 14)), 0xc0, width, height);
            case PROGRESSIVE ->
                jpeg(List.of(segment(0xe1, 65_533), segment(0xe1, 65_533), segment(0xc4, 20)), 0xc2, width, height);
            case GIF87 -> gif("GIF87a", width, height);
            case GIF89 -> gif("GIF89a", width, height);
            case VP8 -> lossy(width, height);
            case VP8L -> lossless(width, height);
            case VP8X -> extended(width, height);
        };
    }

    private static byte[] png(int width, int height) {
        return ByteBuffer.allocate(33)
                .put(latin("\u0089PNG\r\n\u001a\n"))
                .putInt(13)
                .put(latin("IHDR"))
                .putInt(width)
                .putInt(height)
                .array();
    }

    /** A JPEG with these segments before its frame. */
    public static byte[] jpeg(List<byte[]> before, int frame, int width, int height) {
        var all = new ByteArrayOutputStream();
        all.writeBytes(new byte[] {(byte) 0xff, (byte) 0xd8});
        before.forEach(all::writeBytes);
        all.writeBytes(ByteBuffer.allocate(19)
                .put((byte) 0xff)
                .put((byte) frame)
                .putShort((short) 17)
                .put((byte) 8)
                .putShort((short) height)
                .putShort((short) width)
                .array());
        return all.toByteArray();
    }

    /** A segment of a JPEG whose content looks like a frame of 9 x 9 pixels, as that of a preview does. */
    public static byte[] segment(int marker, int content) {
        ByteBuffer segment = ByteBuffer.allocate(4 + content)
                .put((byte) 0xff)
                .put((byte) marker)
                .putShort((short) (2 + content));
        byte[] preview = {(byte) 0xff, (byte) 0xc0, 0, 17, 8, 0, 9, 0, 9};
        while (segment.remaining() >= preview.length) {
            segment.put(preview);
        }
        return segment.array();
    }

    private static byte[] gif(String version, int width, int height) {
        return little(13)
                .put(latin(version))
                .putShort((short) width)
                .putShort((short) height)
                .array();
    }

    private static byte[] lossy(int width, int height) {
        return webp("VP8 ", 10)
                .put(new byte[] {0x10, 0, 0, (byte) 0x9d, 1, 0x2a})
                // The upper two bits say how to scale it, which nobody does.
                .putShort((short) (width | (1 << 14)))
                .putShort((short) (height | (3 << 14)))
                .array();
    }

    private static byte[] lossless(int width, int height) {
        return webp("VP8L", 5)
                .put((byte) 0x2f)
                .putInt((width - 1) | ((height - 1) << 14) | (1 << 28))
                .array();
    }

    private static byte[] extended(int width, int height) {
        return webp("VP8X", 10)
                .putInt(0x10)
                .put(new byte[] {(byte) (width - 1), (byte) ((width - 1) >> 8), (byte) ((width - 1) >> 16)})
                .put(new byte[] {(byte) (height - 1), (byte) ((height - 1) >> 8), (byte) ((height - 1) >> 16)})
                .array();
    }

    private static ByteBuffer webp(String chunk, int content) {
        return little(20 + content)
                .put(latin("RIFF"))
                .putInt(12 + content)
                .put(latin("WEBP"))
                .put(latin(chunk))
                .putInt(content);
    }

    private static ByteBuffer little(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static byte[] latin(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
