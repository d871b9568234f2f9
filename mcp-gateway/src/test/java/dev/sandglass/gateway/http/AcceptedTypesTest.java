package dev.sandglass.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.http.InvalidMediaTypeException;

/** What a client takes: the range that names a form most closely decides. */
class AcceptedTypesTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", textBlock = """
                    ''                                          | true  | true  | false
                    */*                                         | true  | true  | false
                    application/json, text/event-stream         | true  | true  | true
                    text/event-stream                           | false | true  | true
                    application/json                            | true  | false | false
                    Application/JSON;charset=utf-8              | true  | false | false
                    application/*                               | true  | false | false
                    text/*                                      | false | true  | false
                    text/html                                   | false | false | false
                    text/html, image/png;q=0.9                  | false | false | false
                    text/html, */*;q=0.1                        | true  | true  | false
                    */*, application/json;q=0                   | false | true  | false
                    application/json;q=0, */*                   | false | true  | false
                    */*;q=0                                     | false | false | false
                    */*;q=0, application/json                   | true  | false | false
                    text/*, text/event-stream;q=0               | false | false | false
                    application/problem+json                    | false | false | false
                    """)
    void theClosestRangeDecides(String header, boolean json, boolean events, boolean namesEvents) {
        assertThat(AcceptedTypes.of(List.of(header))).isEqualTo(new AcceptedTypes(json, events, namesEvents));
    }

    @Test
    void aClientThatSendsNoHeaderTakesAnything() {
        assertThat(AcceptedTypes.of(List.of())).isEqualTo(new AcceptedTypes(true, true, false));
    }

    @Test
    void severalLinesAreOneList() {
        assertThat(AcceptedTypes.of(List.of("text/html, application/json", "text/event-stream")))
                .isEqualTo(new AcceptedTypes(true, true, true));
    }

    @ParameterizedTest
    @CsvSource({"///", "json", "application/json;q=2"})
    void whatIsNoListOfMediaTypesIsRefused(String header) {
        assertThatThrownBy(() -> AcceptedTypes.of(List.of(header))).isInstanceOf(InvalidMediaTypeException.class);
    }
}
