package dev.sandglass.testing;

import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;

/** The cluster to test against: that of {@code -Dsandglass.kubeconfig=FILE}, else of KUBECONFIG. */
public final class TestCluster {

    private TestCluster() {}

    /** A configuration of its own for each caller. */
    public static Config config() {
        Config config = read();
        // The client takes a key of the other kind only if it is told so.
        if (config.getClientKeyData() != null && isElliptic(config.getClientKeyData())) {
            config.setClientKeyAlgo("EC");
        }
        return config;
    }

    private static Config read() {
        String kubeconfig = System.getProperty("sandglass.kubeconfig");
        if (kubeconfig == null) {
            return Config.autoConfigure(null);
        }
        try {
            return Config.fromKubeconfig(Files.readString(Path.of(kubeconfig)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isElliptic(String keyData) {
        String pem = new String(Base64.getMimeDecoder().decode(keyData), StandardCharsets.US_ASCII);
        byte[] der = Base64.getMimeDecoder().decode(pem.replaceAll("-----[A-Z ]+-----", ""));
        try {
            KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(der));
            return true;
        } catch (GeneralSecurityException e) {
            return false;
        }
    }
}
