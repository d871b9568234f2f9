package dev.sandglass.gateway.execution;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

/** What supervisors of this and earlier versions tell, and what none should. */
class QueuePositionTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"state\":\"queued\",\"position\":2} | 2",
                "{\"state\":\"queued\",\"position\":0} | 0",
                "{\"state\":\"running\",\"position\":0} | 0",
                "{\"state\":\"queued\"} | 7",
                "{\"state\":\"running\"} | 0",
                "{\"state\":\"done\"} | 0",
                "{\"state\":\"queued\",\"position\":-3} | 0",
                "{\"state\":\"queued\",\"position\":\"2\"} | 7",
                "{} | 0"
            })
    void ofOneExecution(String told, int position) {
        assertThat(QueuePosition.of(JsonMapper.shared().readTree(told), 7)).isEqualTo(position);
    }

    @ParameterizedTest
    @CsvSource({"a, 0", "b, 3", "c, 7", "unknown, 7"})
    void inAListOfAll(String number, int position) {
        String list = """
                {"executions":[{"execution_id":"a","state":"running"},{"execution_id":"b","state":"queued","position":3},\
                {"execution_id":"c","state":"queued"}]}""";
        assertThat(QueuePosition.in(JsonMapper.shared().readTree(list), number, 7))
                .isEqualTo(position);
    }
}
