import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;

/**
 * Writes a trust store that holds the certificates of one folder and nothing else.
 *
 * <p>{@code jlink} copies the trust store of the machine that builds, and with it every private authority that machine
 * happens to trust. An image must not carry those to other people's clusters, so its store is made anew from Debian's
 * package. Usage: {@code java CleanTrustStore.java FOLDER-OF-CRT-FILES OUTPUT-FILE}.
 */
class CleanTrustStore {
  private CleanTrustStore() {}

  public static void main(String[] args) throws IOException, GeneralSecurityException {
    if (args.length != 2) {
      throw new IllegalArgumentException("usage: java CleanTrustStore.java FOLDER-OF-CRT-FILES OUTPUT-FILE");
    }
    CertificateFactory x509 = CertificateFactory.getInstance("X.509");
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    try (var files = Files.list(Path.of(args[0]))) {
      for (Path file : files.filter(f -> f.toString().endsWith(".crt")).sorted().toList()) {
        try (InputStream pem = Files.newInputStream(file)) {
          Certificate certificate = x509.generateCertificate(pem);
          store.setCertificateEntry(file.getFileName().toString(), certificate);
        }
      }
    }
    if (store.size() < 50) {
      throw new IllegalStateException(args[0] + " holds " + store.size() + " certificates; is ca-certificates installed?");
    }
    // A store without a password: it holds nothing but public certificates, and the JDK opens it as its default.
    try (var out = Files.newOutputStream(Path.of(args[1]))) {
      store.store(out, null);
    }
  }
}
