'use strict';
// Every bound of the Node kernel; units are bytes, characters, milliseconds or counts as the name says.

module.exports = {
  SLICE_BYTES: 48 * 1024, // of output in one message; JSON makes it larger
  TEXT_BYTES: 1024 * 1024,
  TRACEBACK_BYTES: 128 * 1024,
  PICTURE_BYTES: 4 * 1024 * 1024, // 3 MiB as base64
  MESSAGE_BYTES: 8 * 1024 * 1024, // that the supervisor takes
  REQUEST_CHARS: 16 * 1024 * 1024,
  CELLS_KEPT: 256, // whose lines a traceback can show
  CELLS_KEPT_CHARS: 4 * 1024 * 1024, // of all of them together
  INSPECT: { depth: 4, maxArrayLength: 200, maxStringLength: 1024 * 1024, breakLength: 100 },
  HEARD_MS: 100, // in which a run that is not busy hears that it is to stop
  CATCH_UP_MS: 1000, // that the start of a program waits for what was written before it to be read
};
