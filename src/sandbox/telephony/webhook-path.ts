/** What the provider's webhooks begin with; they have their own proof of who calls. */
export const telephonyPrefix = '/_sandbox/telephony/';

/** Where the provider reports a call that comes in on a number, as import configures it. */
export function voiceWebhookPath(phoneNumberId: string): string {
  return `${telephonyPrefix}${encodeURIComponent(phoneNumberId)}/voice`;
}
