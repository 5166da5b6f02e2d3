import { pino, type DestinationStream, type Logger } from 'pino';

export type { Logger };

/** Keys whose values never reach a log line: they carry credentials or a recipient's data. */
const secretKeys = [
  'apiKey',
  'api_key',
  'authToken',
  'telephony_auth_token',
  'telephony_account_sid',
  'authorization',
  'x-api-key',
  'xi-api-key',
  'e164',
  'phone',
  'to_phone_number',
  'fields',
  'cells',
  'first_message',
  'firstMessage',
  'variables',
  'body',
];

/** JSON lines to standard error. Log ids and counts; what is named in `secretKeys` is censored at any of the first three depths. */
export function createLogger(level: string, destination: DestinationStream = pino.destination(2)): Logger {
  const quoted = secretKeys.map((key) => `["${key}"]`);
  const paths = quoted.flatMap((key) => [key, `*${key}`, `*.*${key}`]);
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, redact: { paths, censor: '[redacted]' } }, destination);
}

/** The same lines into a file, each on disk before the call returns, so that none is lost when the process ends. */
export function openLogFile(level: string, path: string): Logger {
  return createLogger(level, pino.destination({ dest: path, sync: true, mkdir: true }));
}
