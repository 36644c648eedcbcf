package dev.ullage.cli.doctor;

/** One question about the machine. Changes nothing on it. */
interface Check {
    Finding look(Machine machine);
}
