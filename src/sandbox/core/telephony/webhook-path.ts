/** Where the provider reports a call that comes in on a number, as import configures it. */
export function voiceWebhookPath(phoneNumberId: string): string {
  return `/_sandbox/telephony/${encodeURIComponent(phoneNumberId)}/voice`;
}
