package dev.sandglass.e2e.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sandglass.e2e.support.Agent;
import dev.sandglass.e2e.support.Answer;
import dev.sandglass.e2e.support.FreshSandboxes;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What everyday code expects of the image: packages by each Python, time zones, locales, letters. */
class EverydayE2E {

    @RegisterExtension
    static final FreshSandboxes SANDBOXES = FreshSandboxes.perClass();

    /** Each top-level module of each distribution that the kernel's Python finds, one a line, that others do not. */
    private static final String KNOWN = """
            import importlib.metadata, pathlib
            names = sorted(name for name in importlib.metadata.packages_distributions() if name.isidentifier())
            pathlib.Path("names").write_text("\\n".join(names))
            len(names)
            """;

    private static final String MISSING = """
            import importlib.util
            print(*(name for name in open("names").read().split() if importlib.util.find_spec(name) is None))
            import dateutil, matplotlib.pyplot, numpy, packaging, pandas, PIL, psutil, requests, typing_extensions
            print(pandas.Timestamp("2026-03-08 01:30", tz="US/Eastern") + pandas.Timedelta(hours=1))
            """;

    private static final String DRAWN = """
            import io, logging, warnings
            warnings.simplefilter("error")
            said = io.StringIO()
            logging.getLogger("matplotlib").addHandler(logging.StreamHandler(said))
            import matplotlib
            matplotlib.use("Agg")
            import matplotlib.pyplot as plt
            plt.rcdefaults()
            %s
            plt.figure()
            plt.title("漢字 简体 繁體 ひらがな カタカナ 한국어 äöü")
            plt.xlabel("굵은 글씨", weight="bold")
            for kind in ("png", "svg", "pdf"):
                plt.savefig("letters." + kind)
            plt.close()
            said.getvalue()
            """;

    private static String sandbox = "";

    private final Agent agent = SANDBOXES.agent();

    @BeforeAll
    static void start() {
        sandbox = SANDBOXES.start();
        Answer known = SANDBOXES.agent().python(sandbox, KNOWN);
        assertThat(Integer.parseInt(known.result())).as(known.text()).isGreaterThan(40);
    }

    private String printed(String line, String stdin) {
        Answer answer = agent.call("sandbox_run_command", Map.of("sandbox", sandbox, "command", line, "stdin", stdin));
        assertThat(answer.status()).as(answer.text()).isEqualTo("ok");
        return answer.stdout();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "python3 -",
                "/usr/bin/python3 -",
                "python3 -m venv --system-site-packages --without-pip env && env/bin/python -",
                "/usr/bin/python3 -m venv --system-site-packages --without-pip other && other/bin/python -",
                "(echo '#!/usr/bin/python3'; cat) >script && chmod +x script && ./script",
                "(echo '#!/usr/bin/env python3'; cat) >script && chmod +x script && ./script",
                "cd /tmp && cp /workspace/names . && env -i /usr/bin/python3 -"
            })
    void eachPythonFindsWhatTheKernelFinds(String route) {
        assertThat(printed(route, MISSING)).isEqualTo("\n2026-03-08 03:30:00-04:00\n");
    }

    @Test
    void anEnvironmentOverTheImagesPackagesRunsAKernel() {
        printed("python3 -m venv --system-site-packages --without-pip ~/envs/over", "");

        Answer answer = agent.call(
                "sandbox_run_code",
                Map.of(
                        "sandbox",
                        sandbox,
                        "session",
                        "over",
                        "python_env",
                        "over",
                        "code",
                        "import pandas, sys; (sys.prefix, pandas.Series([1, 2]).sum().item())"));

        assertThat(answer.result()).as(answer.text()).isEqualTo("('/workspace/envs/over', 3)");
    }

    @ParameterizedTest
    @CsvSource({
        "US/Eastern, -0500",
        "US/Pacific, -0800",
        "Asia/Calcutta, +0530",
        "GB, +0000",
        "Japan, +0900",
        "Europe/Kiev, +0200",
        "America/New_York, -0500",
        "PRC, +0800"
    })
    void timeZonesHaveTheirOlderNamesToo(String zone, String offset) {
        assertThat(printed("TZ=%s date -d @1768478400 +%%z".formatted(zone), ""))
                .isEqualTo(offset + "\n");
        assertThat(printed("/usr/bin/python3 -", """
                        import datetime, zoneinfo
                        print(datetime.datetime.fromtimestamp(1768478400, zoneinfo.ZoneInfo("%s")).strftime("%%z"))
                        """.formatted(zone))).isEqualTo(offset + "\n");
    }

    @Test
    void theLocaleIsThePlainOneAndAnotherIsThere() {
        assertThat(printed("echo $LANG; locale 2>&1 | grep -c 'Cannot' || true", ""))
                .isEqualTo("C.UTF-8\n0\n");
        assertThat(printed("python3 -", """
                        import locale
                        for name in ("en_US.UTF-8", "en_US.utf8", "C.UTF-8"):
                            locale.setlocale(locale.LC_ALL, name)
                            print(locale.format_string("%.1f", 1234567.5, grouping=True))
                        """)).isEqualTo("1,234,567.5\n1,234,567.5\n1234567.5\n");
        assertThat(printed("LC_ALL=en_US.UTF-8 bash -c 'printf \"%s\\n\" é | tr -d \"\\n\" | wc -m' 2>&1", ""))
                .isEqualTo("1\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "plt.rcParams['axes.titleweight'] = 'bold'",
                "plt.style.use('ggplot')",
                "plt.style.use('seaborn-v0_8')",
                "plt.rcParams['font.family'] = 'serif'",
                "plt.rcParams['font.family'] = ['monospace', 'sans-serif']"
            })
    void figuresHaveEastAsianLetters(String how) {
        Answer answer = agent.python(sandbox, DRAWN.formatted(how));

        assertThat(answer.status()).as(answer.text()).isEqualTo("ok");
        assertThat(answer.result()).isEqualTo("''");
    }

    @Test
    void theirFirstFontIsStillMatplotlibsAndALetterThatNoFontHasIsNoError() {
        // A session of its own, whose settings no test before has changed.
        Answer answer = agent.call("sandbox_run_code", Map.of("sandbox", sandbox, "session", "fonts", "code", """
                import warnings
                import matplotlib.pyplot as plt
                from matplotlib import font_manager
                warnings.simplefilter("default")
                plt.figure(); plt.title("\\U0001f600 \\u2764\\ufe0f \\U0002ffff"); plt.savefig("emoji.png"); plt.close()
                font_manager.findfont(font_manager.FontProperties()).rpartition("/")[2]
                """));

        assertThat(answer.result()).as(answer.text()).isEqualTo("'DejaVuSans.ttf'");
    }
}
