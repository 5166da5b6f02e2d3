import { pino, type DestinationStream, type Logger } from 'pino';

export type { Logger };

/** Never logged: credentials and recipient data. */
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

/** JSON lines to standard error. Log ids and counts; `secretKeys` are censored in the first three levels. */
export function createLogger(level: string, destination: DestinationStream = pino.destination(2)): Logger {
  const quoted = secretKeys.map((key) => `["${key}"]`);
  const paths = quoted.flatMap((key) => [key, `*${key}`, `*.*${key}`]);
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, redact: { paths, censor: '[redacted]' } }, destination);
}

/** As `createLogger`, into a file; synchronous, so that no line is lost at exit. */
export function openLogFile(level: string, path: string): Logger {
  return createLogger(level, pino.destination({ dest: path, sync: true, mkdir: true }));
}
