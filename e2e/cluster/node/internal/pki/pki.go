// Package pki makes the cluster's certificates and keys. They live as long as
// the cluster does and are made anew with it.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"path/filepath"
	"time"

	"sandglass.dev/e2e/cluster/node/internal/layout"
)

const lifetime = 365 * 24 * time.Hour

// Pair is a certificate with its key, both in PEM.
type Pair struct {
	Certificate, Key []byte
}

// Authority signs certificates.
type Authority struct {
	Pair
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// Subject says whom a certificate is for. With hosts it is a server's, without
// a client's.
type Subject struct {
	Name   string
	Groups []string
	Hosts  []string
}

// NewAuthority makes an authority with a key of its own.
func NewAuthority(name string) (Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Authority{}, err
	}
	template := newTemplate(Subject{Name: name})
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = nil
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return Authority{}, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return Authority{}, err
	}
	pair, err := encode(der, key)
	return Authority{Pair: pair, certificate: certificate, key: key}, err
}

// Issue makes a key and a certificate for the subject.
func (a Authority) Issue(subject Subject) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	der, err := x509.CreateCertificate(rand.Reader, newTemplate(subject), a.certificate, &key.PublicKey, a.key)
	if err != nil {
		return Pair{}, err
	}
	return encode(der, key)
}

// NewTokenKey makes the key pair that signs service account tokens.
func NewTokenKey() (public, private []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, nil, err
	}
	private, err = encodeKey(key)
	return toPEM("PUBLIC KEY", der), private, err
}

// Save writes the pair as NAME.crt and NAME.key.
func (p Pair) Save(name string) error {
	path := filepath.Join(layout.PKI, name)
	if err := layout.Write(path+".crt", p.Certificate, 0o644); err != nil {
		return err
	}
	return layout.Write(path+".key", p.Key, 0o600)
}

func newTemplate(subject Subject) *x509.Certificate {
	// 63 bits never repeat among the dozen certificates of one authority.
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 63))
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: subject.Name, Organization: subject.Groups},
		// A clock that is set back a little must not make the cluster unusable.
		NotBefore:   time.Now().Add(-time.Hour),
		NotAfter:    time.Now().Add(lifetime),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	for _, host := range subject.Hosts {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return template
}

func encode(der []byte, key *ecdsa.PrivateKey) (Pair, error) {
	private, err := encodeKey(key)
	return Pair{Certificate: toPEM("CERTIFICATE", der), Key: private}, err
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return toPEM("PRIVATE KEY", der), err
}

func toPEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
