package dev.sandglass.api.name;

/** A name was refused. The message is written for the caller and part of the contract. */
public final class InvalidNameException extends IllegalArgumentException {

    InvalidNameException(String message) {
        super(message);
    }
}
