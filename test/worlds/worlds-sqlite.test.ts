import { seedFactor } from '../support/seed-factor.ts';
import { testWorlds } from './worlds-suite.ts';

testWorlds(1, 100 * seedFactor, 'sqlite');
